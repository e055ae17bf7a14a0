import { showHidden } from "@holdfast/runtime/hidden";
import type { Document, Pair, ParsedNode } from "yaml";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { ReadSkill, SkillFault, SkillText } from "./skill.ts";

/** Limits of the specification, in characters; and how long a body may be before the rest belongs in files of its own. */
const longestName = 64;
const longestDescription = 1024;
const longestCompatibility = 500;
const mostLines = 500;
/** Characters of a front matter and of its list of tools: far more than any skill needs. */
const longestFront = 16_384;
const longestTools = 2_000;
/** Brackets that a front matter may have, and faults of its YAML that are told: what has more is made to take time. */
const mostBrackets = 200;
const mostErrors = 20;

const known = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);

/** But for tab and line feed: no text of others speaks to a terminal. */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

interface Field {
  readonly line: number;
  readonly node: unknown;
}

/**
 * Reads a SKILL.md and says of each fault on which line it is. `folder` is the name of the folder that holds it. All values
 * are read as texts. Pure.
 */
export function readSkillText(file: string, folder: string): ReadSkill {
  const faults: SkillFault[] = [];
  const fault = (line: number, severity: SkillFault["severity"], message: string, stops = false): void => {
    faults.push({ line, severity, message, stops });
  };
  const whole = file.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const lines = whole.replaceAll(control, "").split("\n");
  const end = lines[0]?.trimEnd() === "---" ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---") : -1;
  if (whole.search(control) !== -1) fault(1, "warning", "it has control characters: they are left out");
  if (end === -1) {
    const what =
      lines[0]?.trimEnd() === "---" ? "the front matter has no end: a line with --- alone" : "it begins with no front matter (---)";
    fault(1, "error", what, true);
    return { text: null, faults };
  }
  const front = lines.slice(1, end).join("\n");
  if (front.length > longestFront || front.replaceAll(/[^[{]/g, "").length > mostBrackets) {
    fault(1, "error", `the front matter has more than ${longestFront / 1024} kB, or ${mostBrackets} brackets`, true);
    return { text: null, faults };
  }
  const fields = fieldsOf(front, fault);
  if (fields === null) return { text: null, faults };
  for (const [key, { line }] of fields)
    if (!known.has(key)) fault(line, "warning", `${shown(key)} is no field of the specification: it is not read`);
  const name = textField(fields, "name", fault) ?? "";
  judgeName(name, folder, fields.get("name")?.line ?? 1, fault);
  const description = (textField(fields, "description", fault) ?? "").trim();
  judgeDescription(description, fields.get("description")?.line ?? 1, fault);
  const compatibility = textField(fields, "compatibility", fault);
  if (compatibility !== null && (compatibility === "" || [...compatibility].length > longestCompatibility))
    fault(fields.get("compatibility")!.line, "error", `compatibility has 1 to ${longestCompatibility} characters`);
  const text: SkillText = {
    name,
    description: showHidden(description.replaceAll(/\s+/g, " ")),
    license: shownOrNull(textField(fields, "license", fault)),
    compatibility: shownOrNull(compatibility),
    metadata: metadataOf(fields.get("metadata"), fault),
    allowedTools: allowedTools(fields.get("allowed-tools"), fault),
    body: showHidden(
      lines
        .slice(end + 1)
        .join("\n")
        .trim(),
    ),
  };
  if (text.body === "") fault(end + 1, "warning", "it has no instructions below its front matter");
  lines.slice(end + 1).forEach((line, index) => {
    if (showHidden(line) !== line) fault(end + 2 + index, "warning", "it has characters that don't show; the model sees them written out");
  });
  if (lines.length - end > mostLines)
    fault(end + 2, "warning", `it has more than ${mostLines} lines: what is rarely needed belongs in files of its own`);
  return { text: faults.some(({ stops }) => stops) ? null : text, faults };
}

type Tell = (line: number, severity: SkillFault["severity"], message: string, stops?: boolean) => void;

/** The front matter's fields with their lines in the file; null where it can't be read. */
function fieldsOf(front: string, fault: Tell): ReadonlyMap<string, Field> | null {
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line + 1;
  let document: Document.Parsed = parse(front, counter);
  if (document.errors.length > 0) {
    for (const { pos, message } of document.errors.slice(0, mostErrors))
      fault(lineAt(pos[0]), "error", `no valid YAML: ${reason(message)}`);
    // A colon in a text without quotes is the most common fault of all, and what was meant is plain.
    document = parse(quoteColons(front), new LineCounter());
    if (document.errors.length > 0 || !isMap(document.contents)) {
      fault(1, "error", "the front matter can't be read", true);
      return null;
    }
    fault(1, "warning", "read as if the texts with a colon had quotes around them");
  }
  if (!isMap(document.contents)) {
    fault(2, "error", "the front matter is no list of fields such as name: and description:", true);
    return null;
  }
  let alias: number | null = null;
  visit(document, { Alias: (_, { range }) => void (alias ??= range?.[0] ?? 0) });
  if (alias !== null) {
    fault(lineAt(alias), "error", "references (*name) are not followed", true);
    return null;
  }
  return new Map(
    (document.contents.items as Pair<ParsedNode, ParsedNode | null>[]).flatMap(({ key, value }): [string, Field][] =>
      isScalar(key) ? [[String(key.value), { line: lineAt(key.range[0]), node: value }]] : [],
    ),
  );
}

function parse(front: string, lineCounter: LineCounter): Document.Parsed {
  return parseDocument(front, { schema: "failsafe", lineCounter, prettyErrors: false, uniqueKeys: true });
}

/** Without what the parser adds for programmers. */
function reason(message: string): string {
  return message.split("\n", 1)[0]!.replace(/[.:]$/, "");
}

function quoteColons(front: string): string {
  return front
    .split("\n")
    .map((line) => {
      const colon = line.indexOf(":");
      const value = line.slice(colon + 1).trim();
      const isPlain =
        /^[A-Za-z][\w-]{0,63}$/.test(line.slice(0, Math.max(0, colon))) && value.includes(":") && !`"'|>[{&*!`.includes(value[0]!);
      return isPlain ? `${line.slice(0, colon)}: ${JSON.stringify(value)}` : line;
    })
    .join("\n");
}

/** Null where the field isn't there, or holds no text: then that is told. */
function textField(fields: ReadonlyMap<string, Field>, key: string, fault: Tell): string | null {
  const field = fields.get(key);
  if (field === undefined) return null;
  if (field.node === null || field.node === undefined) return "";
  if (isScalar(field.node)) return String(field.node.value ?? "");
  fault(field.line, "error", `${key} is no text`, key === "name" || key === "description");
  return null;
}

function judgeName(name: string, folder: string, line: number, fault: Tell): void {
  if (name === "") return fault(line, "error", "there is no name", true);
  if (name.length > longestName) return fault(line, "error", `the name has more than ${longestName} characters`, true);
  if (!/^[a-z0-9-]+$/.test(name)) return fault(line, "error", "a name has a to z, 0 to 9 and - alone", true);
  if (/^-|-$|--/.test(name)) return fault(line, "error", "a name neither begins nor ends with -, and has no two in a row", true);
  if (name !== folder) fault(line, "error", `the name is ${name}, and the folder ${shown(folder)}: they are to be the same`);
}

function judgeDescription(description: string, line: number, fault: Tell): void {
  if (description === "") return fault(line, "error", "there is no description", true);
  if ([...description].length > longestDescription) fault(line, "error", `the description has more than ${longestDescription} characters`);
  if (showHidden(description) !== description)
    fault(line, "warning", "the description has characters that don't show; the model sees them written out");
}

function metadataOf(field: Field | undefined, fault: Tell): Record<string, string> {
  if (field === undefined || field.node === null || field.node === undefined) return {};
  if (!isMap(field.node)) {
    fault(field.line, "error", "metadata is no list of fields");
    return {};
  }
  return Object.fromEntries(
    field.node.items.flatMap(({ key, value }): [string, string][] => {
      if (isScalar(key) && (value === null || isScalar(value))) return [[shown(String(key.value)), shown(String(value?.value ?? ""))]];
      fault(field.line, "error", `metadata: ${isScalar(key) ? shown(String(key.value)) : "a field"} is no text`);
      return [];
    }),
  );
}

/** A text with spaces between, or a list of texts. */
function allowedTools(field: Field | undefined, fault: Tell): string[] {
  if (field === undefined || field.node === null || field.node === undefined) return [];
  const { node } = field;
  const texts = isSeq(node) ? node.items : [node];
  if (texts.some((one) => !isScalar(one) || isAlias(one))) {
    fault(field.line, "error", "allowed-tools is a text or a list of texts");
    return [];
  }
  const written = texts.map((one) => (isScalar(one) ? String(one.value ?? "") : ""));
  // A pattern in brackets may hold spaces: `Bash(git add *)`.
  return (isSeq(node) ? written : (written[0]!.slice(0, longestTools).match(/(?:[^\s(]+(?:\([^)]*\))?)/g) ?? []))
    .map(shown)
    .filter((tool) => tool !== "");
}

function shown(text: string): string {
  return showHidden(text.replaceAll(/\s+/g, " "));
}

function shownOrNull(text: string | null): string | null {
  return text === null ? null : shown(text);
}
