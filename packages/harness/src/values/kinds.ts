/** A kind of exact value: how it looks in a text, and words by which somebody asks for one. */
export interface ValueKind {
  readonly kind: string;
  readonly words: string;
  /** With flags `g` (and `u` or `i` as it likes; `g` is added where it is missing). Group 1 is the value where there is one, else the whole match. */
  readonly pattern: RegExp;
}

/** A value word for word, where it begins in its line. */
export interface ExactValue {
  readonly kind: string;
  readonly value: string;
  readonly at: number;
}

const edge = String.raw`(?<![\w./:@-])`;

/** In this order: where two match the same characters, the first counts. */
export const valueKinds: readonly ValueKind[] = [
  { kind: "url", words: "url link address uri endpoint", pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>`]+[^\s"'<>`.,;:!?)\]}]/gi },
  { kind: "uuid", words: "uuid guid id identifier request", pattern: /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi },
  {
    kind: "resource",
    words: "resource arn id name",
    pattern:
      /\barn:[\w-]+:[^\s"',]+|\/subscriptions\/[^\s"',]+|\bprojects\/[\w-]+\/(?:locations|zones|regions|global)\/[^\s"',]+|\b(?:i|vpc|subnet|sg|ami|vol|eni|snap)-[0-9a-f]{8,17}\b/g,
  },
  {
    kind: "image",
    words: "image container tag registry digest",
    pattern: /(?<![\w./:@-])[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)+(?::[\w][\w.-]*\w|@sha256:[0-9a-f]{64})/g,
  },
  { kind: "package", words: "package module dependency", pattern: /(?<![\w/])@[\w.-]+\/[\w.-]+(?:@[\w.^~+-]+\w)?/g },
  { kind: "token", words: "token bearer jwt key", pattern: /(?<![\w.-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g },
  { kind: "hash", words: "fingerprint hash digest key", pattern: /\b(?:SHA(?:1|256|512)|MD5):[\w+/:=-]{16,}/g },
  { kind: "doi", words: "doi identifier paper", pattern: /(?<![\w./])10\.\d{4,9}\/[^\s"',;]+/g },
  {
    kind: "account",
    words: "account iban bank number",
    pattern: /(?<![\w-])[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?(?![\w-])/g,
  },
  {
    kind: "name",
    words: "distinguished name dn subject",
    pattern: /\b(?:CN|OU|DC|O|UID)=[^,\s]+(?:,\s?(?:CN|OU|DC|O|L|ST|C|UID)=[^,\s]+)+/g,
  },
  { kind: "schedule", words: "recurrence rule rrule schedule", pattern: /\bFREQ=[A-Z]+(?:;[A-Z]+=[\w,+-]+)+/g },
  { kind: "schedule", words: "cron schedule", pattern: /(?<!\S)(?=[\d/,\- ]*\*)(?:[\d*][\d*/,-]* ){4}[\d*][\d*/,-]*(?!\S)/g },
  { kind: "glob", words: "glob pattern files", pattern: /(?<![^\s"'`=:(])[\w./{},-]*\*{1,2}\/[\w./{},*-]*\w/g },
  { kind: "path", words: "share path folder", pattern: /(?<![\w\\])\\\\[\w.-]+\\[^\s"']+/g },
  {
    kind: "coordinates",
    words: "coordinates position location",
    pattern:
      /\d{1,3}°\s?\d{1,2}['′]\s?\d{1,2}(?:\.\d+)?["″]\s?[NSEW](?:[ ,]{1,2}\d{1,3}°\s?\d{1,2}['′]\s?\d{1,2}(?:\.\d+)?["″]\s?[NSEW])?/g,
  },
  { kind: "clause", words: "clause section paragraph article", pattern: /§{1,2}\s?\d+[a-z]?(?:\s(?:Abs|Nr|Satz)\.\s?\d+)*/g },
  { kind: "amount", words: "amount total price money", pattern: /[€$£¥]\s?\d+(?:[.,' ]\d{2,3})*(?!\w)/g },
  { kind: "amount", words: "duration period retention", pattern: /(?<![\w-])P(?=\d|T\d)(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?(?![\w-])/g },
  { kind: "number", words: "number balance count", pattern: /(?<![\w.'])\d{1,3}(?:'\d{3})+(?![\w'])/g },
  { kind: "code", words: "isbn orcid number code id", pattern: /(?<![\w.-])\d{3,4}(?:-\d{1,7}){3,4}X?(?![\w-])/g },
  {
    kind: "type",
    words: "content type mime media",
    pattern: /(?<![\w/.])(?:application|text|image|audio|video|multipart|font)\/[\w+-][\w.+-]*\w(?:;\s?[\w-]+=[\w"-]+)*(?![\w/])/g,
  },
  { kind: "email", words: "email mail address", pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g },
  {
    kind: "time",
    words: "time date deadline timestamp when",
    pattern: /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])/g,
  },
  { kind: "mac", words: "mac hardware address", pattern: /(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])/gi },
  { kind: "colour", words: "colour color", pattern: /(?<![\w&])#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?!\w)/gi },
  {
    kind: "coordinates",
    words: "coordinates position location latitude longitude",
    pattern: /(?<![\w.])[+-]?\d{1,3}\.\d{3,}\s?,\s?[+-]?\d{1,3}\.\d{3,}(?![\w.])/g,
  },
  { kind: "phone", words: "phone telephone number", pattern: /(?<![\w.+])\+\d{1,3}(?:[ ().-]{0,2}\d){6,14}(?!\w)/g },
  {
    kind: "date",
    words: "date day due deadline when",
    pattern:
      /\b(?:\d{1,2}(?:st|nd|rd|th|\.)?\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\.?,?\s\d{4}|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}|\d{1,2}[./]\d{1,2}[./]\d{4})\b/g,
  },
  {
    kind: "ip",
    words: "ip ipv6 address addr host",
    pattern:
      /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?:\/\d{1,3})?(?![\w:])|(?<![\w:.])\[(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}\]:\d{1,5}\b/gi,
  },
  { kind: "ip", words: "ip ipv4 address addr host", pattern: /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}|\/\d{1,2})?(?!\w|\.\d)/g },
  {
    kind: "hash",
    words: "hash commit sha sha256 sha-256 digest checksum revision",
    pattern: /(?<![\w-])(?:sha\d{1,3}[:-])?(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}(?![\w-])/gi,
  },
  {
    kind: "version",
    words: "version release tag",
    pattern: /(?<![\w.])v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]*[0-9A-Za-z])?(?!\w)/g,
  },
  {
    kind: "setting",
    words: "setting environment env variable assignment option config",
    pattern: /(?<![\w.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+=(?:"[^"\n]*"|'[^'\n]*'|[^\s"']+)|(?<![\w.-])[a-z][\w-]*(?:\.[\w-]+)+\s?=\s?[^\s,;]+/g,
  },
  {
    kind: "regex",
    words: "regex pattern regular expression",
    pattern: /(?<=^|[\s"'`:=(])\/?(?=\S*(?:\\[dwsbDWSB]|\(\?[:=!<]|\[[^\]\s]+\][+*{]))[\^\\([][^\s"'`]*[^\s"'`,;.]/g,
  },
  {
    kind: "branch",
    words: "branch ref",
    pattern:
      /(?<![\w./-])(?:refs\/(?:heads|tags|pull)|origin|feature|feat|fix|bugfix|hotfix|release|chore|user|users|dependabot)\/[\w./-]*\w/g,
  },
  {
    kind: "path",
    words: "path file folder directory",
    pattern: new RegExp(
      String.raw`${edge}(?:~|\.{1,2})?(?:/[\w.@+~-]+){2,}/?|${edge}[\w@+~-][\w.@+~-]*(?:/[\w.@+~-]+)+\.\w{1,6}\b|\b[A-Z]:\\[^\s"']+`,
      "g",
    ),
  },
  {
    kind: "error",
    words: "error code errno status",
    pattern: /\bE[A-Z]{3,}\b|\bERR_\w+|\b[A-Z]{1,6}-?\d{3,6}\b|\bHTTP \d{3}\b|\b0x[0-9A-Fa-f]{4,}\b/g,
  },
  {
    kind: "statement",
    words: "statement query sql payload body",
    pattern: /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP)\b[^\n]{8,}|\{"[^\n]*\}/g,
  },
  {
    kind: "token",
    words: "token key cursor base64 continuation",
    pattern: /(?<![\w+/-])(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z0-9])[\w+/-]{20,}={0,2}(?![\w+/])/g,
  },
  {
    kind: "amount",
    words: "size amount duration limit timeout number",
    pattern:
      /(?<![\w.])(?:\d+\s?(?:ms|[dhms])\s?){2,}(?!\w)|(?<![\w.])[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?\s?(?:ms|s|sec|min|h|d|[kMGT]i?B|bytes|B|%|px|Hz|[kMG]Hz|V|W|°C|€|\$|USD|EUR|rps|qps)(?![\w-])/g,
  },
  { kind: "code", words: "code id serial key number", pattern: /(?<![\w.-])(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])\w[\w.-]{2,}\w(?![\w])/g },
  { kind: "number", words: "port number id pid code count", pattern: /(?<![\w.,:/-])\d{3,}(?:\.\d+)?(?!\w|[.:/-]\w|,\d)/g },
  {
    kind: "name",
    words: "name component service host pod resource",
    pattern: /(?<![\w./-])[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+){2,}(?![\w/-])/g,
  },
  { kind: "quoted", words: "value text string", pattern: /"((?:[^"\\\n]|\\.){3,200})"|`([^`\n]{3,200})`/g },
];

/** Of longer lines the beginning is read, and the whole counts as a value: what it holds is one long thing. */
const longestRead = 2_000;

/** A host's own kinds before the built-in ones. */
export function withOwnKinds(own: readonly ValueKind[]): readonly ValueKind[] {
  const all = own.map((kind) => (kind.pattern.global ? kind : { ...kind, pattern: new RegExp(kind.pattern, `${kind.pattern.flags}g`) }));
  return [...all, ...valueKinds];
}

/** The exact values of a line, in the order they stand. */
export function valuesIn(whole: string, kinds: readonly ValueKind[] = valueKinds): ExactValue[] {
  if (whole.length > longestRead) return [...valuesIn(whole.slice(0, longestRead), kinds), { kind: "long", value: whole, at: 0 }];
  const line = whole;
  const found: ExactValue[] = [];
  const isTaken = new Uint8Array(line.length);
  for (const { kind, pattern } of kinds) {
    for (const match of line.matchAll(pattern)) {
      const value = match[1] ?? match[2] ?? match[0];
      const at = match.index + match[0].indexOf(value);
      if (isTaken[at] === 1) continue;
      isTaken.fill(1, at, at + value.length);
      found.push({ kind, value, at });
    }
  }
  return found.toSorted((a, b) => a.at - b.at);
}
