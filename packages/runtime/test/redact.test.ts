import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { redact, redactDeep, redactionMark } from "../src/redact.ts";
import { createStreamRedactor } from "../src/redact-stream.ts";

const key = (label: string) => `-----BEGIN ${label}PRIVATE KEY-----\nMIIE\n-----END ${label}PRIVATE KEY-----`;

test("every whole private key goes, what stands around it stays", () => {
  expect(redact(`a ${key("RSA ")} b ${key("")} c`, [])).toBe(`a ${redactionMark} b ${redactionMark} c`);
  expect(redact(`-----BEGIN PRIVATE KEY----- x ${key("EC ")}`, [])).toBe(redactionMark);
  expect(redact("-----BEGIN PRIVATE KEY----- only", [])).toBe("-----BEGIN PRIVATE KEY----- only");
  expect(redact(`-----END PRIVATE KEY----- ${key("")}`, [])).toBe(`-----END PRIVATE KEY----- ${redactionMark}`);
});

test.each([`sk-${"a1b2c3d4".repeat(3)}`, `npm_${"aB3d".repeat(9)}`, `hf_${"aB".repeat(17)}`])(
  "a known format goes, also from a stream: %s",
  (key) => {
    expect(redact(`key=${key}.`, [])).toBe(`key=${redactionMark}.`);
    const stream = createStreamRedactor(() => []);
    expect(["key=", ...key, "."].map((piece) => stream.push(piece)).join("") + stream.end()).toBe(`key=${redactionMark}.`);
  },
);

test.each(["sk-learn-pipeline-of-many-words-1", "hf_hub_download", "npm_config_registry", "sk-abcdefghijklmnopqrstuvwxyz"])(
  "a word that only begins like one stays: %s",
  (word) => expect(redact(word, [])).toBe(word),
);

test("held values and known formats go; short values stay, as they would be words", () => {
  expect(redact("held-value-1 short", ["held-value-1", "short"])).toBe(`${redactionMark} short`);
  expect(redact(`token ghp_${"a".repeat(36)}.`, [])).toBe(`token ${redactionMark}.`);
});

const secret = 'p4ss/w+rd "ü" & more';

test("a held value goes in whatever writing: within JSON, a URL, base64, hex", () => {
  const bytes = Buffer.from(secret);
  const writings = [
    secret,
    JSON.stringify({ secret }),
    JSON.stringify(JSON.stringify({ secret })),
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString().replace(/%21|%27|%28|%29|~/g, ""),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...[secret, `u:${secret}`, `me:${secret}`, `you:${secret}:x`].flatMap((text) => [
      Buffer.from(text).toString("base64"),
      Buffer.from(text).toString("base64url"),
    ]),
  ];
  for (const writing of writings) {
    const clean = redact(`before ${writing} after`, [secret]);
    expect(clean, writing).toContain(redactionMark);
    expect(clean).toMatch(/^before .*after$/);
    expect(Buffer.from(clean.replace(redactionMark, ""), "base64").toString("latin1")).not.toContain("p4ss");
  }
});

test("of base64 the whole goes: no digit is left that holds bits of the value, nor what fills the last group, also from a stream", () => {
  const held = ["p4ssw0rd+/~~", "p4ssw0rd+/~~?", "p4ssw0rd+/~~??", "\u00fc\u00ff\u00ff>>secret"];
  for (const value of held) {
    for (const before of ["", "u", "us", "user:"]) {
      for (const after of ["", ":", ":x", ":xy"]) {
        const [start, middle] = [Buffer.from(before), Buffer.from(value)];
        const bits = { from: start.length * 8, to: (start.length + middle.length) * 8 };
        for (const kind of ["base64", "base64url"] as const) {
          const whole = Buffer.from(`${before}${value}${after}`).toString(kind);
          // What is left are the digits that hold none of its bits.
          const wanted = `is ${whole.slice(0, Math.floor(bits.from / 6))}${redactionMark}${after === "" ? "" : whole.slice(Math.ceil(bits.to / 6))} here`;
          for (const columns of [76, 64, 5]) {
            for (const end of ["\n", "\r\n"]) {
              const broken = (whole.match(new RegExp(`.{1,${columns}}`, "g")) ?? []).join(columns < whole.length ? end : "");
              expect(redact(`is ${broken} here`, [value]).replaceAll(/\r?\n/g, "")).toBe(wanted);
              expect(redactDeep([`is ${broken} here`], [value])).toEqual([redact(`is ${broken} here`, [value])]);
            }
          }
          for (const size of [1, 2, 3, 7, 50]) {
            const stream = createStreamRedactor(() => [value]);
            const pieces = `is ${whole} here`.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
            expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end(), `${whole} by ${size}`).toBe(wanted);
          }
        }
      }
    }
  }
  expect(redact(`?a=${encodeURIComponent(Buffer.from("p4ssw0rd+/~~?").toString("base64"))}&b`, ["p4ssw0rd+/~~?"])).toBe(
    `?a=${redactionMark}&b`,
  );
});

/** As bash quotes it in each of its ways. */
function shells(text: string): string[] {
  const quoted = execFileSync("bash", [
    "-c",
    `LC_ALL=C.UTF-8; printf '%q' "$1"; printf '\\0'; set -- "$1"; v=$1; echo "\${v@Q}"`,
    "bash",
    text,
  ]);
  return quoted.toString().trimEnd().split("\0");
}

test("it goes as shells and escapes write it, also from a stream", () => {
  const value = `S3cr+t/V'al"ue&9=\\zQ~, $x`;
  const units = (write: (digits: string) => string, width = 2) =>
    Array.from(value, (unit) => write(unit.charCodeAt(0).toString(16).padStart(width, "0"))).join("");
  const writings = [
    ...shells(value),
    units((digits) => `\\u${digits}`, 4),
    units((digits) => `\\\\u${digits.toUpperCase()}`, 4),
    units((digits) => `&#x${digits};`),
    Array.from(value, (unit) => `&#${unit.charCodeAt(0)};`).join(""),
    Buffer.from(value, "utf16le").toString("base64"),
  ];
  for (const writing of writings) {
    expect(redact(`a ${writing} b`, [value]), writing).toMatch(/^a '?\[redacted secret\]'? b$/);
    const stream = createStreamRedactor(() => [value]);
    const pieces = `a ${writing} b`.match(/[^]{1,7}/g) ?? [];
    expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end(), writing).toBe(redact(`a ${writing} b`, [value]));
  }
});

test("it goes in hex whatever stands between its bytes, also from a stream", () => {
  const value = "S3cr+t/Value&9=zQ-of-more-than-a-line";
  const bytes = Array.from(Buffer.from(value), (byte) => byte.toString(16));
  const dump = (command: string) => execFileSync("sh", ["-c", command], { input: value }).toString().trimEnd();
  const writings = [
    dump("od -An -tx1"),
    bytes.join(":"),
    bytes.join("-").toUpperCase(),
    bytes.map((byte) => `0x${byte}`).join(", "),
    bytes.map((byte) => `\\x${byte}`).join(""),
    bytes.map((byte) => `%${byte}`).join(""),
    (bytes.join("").match(/.{1,8}/g) ?? []).join(" "),
  ];
  for (const writing of writings) {
    const clean = redact(`go ${writing} on`, [value]);
    expect(clean.replaceAll(/\s+/g, " "), writing).toMatch(/^go (?:0x|\\x|%)?\[redacted secret\] on$/);
    expect(JSON.stringify(redactDeep({ x: [writing] }, [value])), writing).toContain(redactionMark);
    for (const size of [1, 2, 3, 7, 50]) {
      const stream = createStreamRedactor(() => [value]);
      const cut = `go ${writing} on`.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(cut.map((piece) => stream.push(piece)).join("") + stream.end(), `${writing} by ${size}`).toBe(clean);
    }
  }
  expect(redact("12:34:56 53 33 be added, 0xde 0xad", [value])).toBe("12:34:56 53 33 be added, 0xde 0xad");
});

test("it goes as other programs write it, from a text and from deep within a value", () => {
  const hard = `p4ss'(w)/+rd "<ü>" &\nmore!*`;
  const python = encodeURIComponent(hard)
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2F", "/");
  const json = JSON.stringify(hard).slice(1, -1);
  const writings = [
    python,
    python.replaceAll("%20", "+"),
    encodeURIComponent(hard).replaceAll(/%../g, (code) => code.toLowerCase()),
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    json.replaceAll(/[&<>]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
    hard.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  ];
  for (const writing of writings) {
    expect(redact(`a ${writing} b`, [hard]), writing).toBe(`a ${redactionMark} b`);
    expect(redactDeep({ list: [`a ${writing} b`] }, [hard]), writing).toEqual({ list: [`a ${redactionMark} b`] });
  }
});

test("a private key is whole in a stream before any of it is shown; a beginning alone is shown in the end", () => {
  for (const [text, wanted] of [
    [`a ${key("RSA ")} b`, `a ${redactionMark} b`],
    [`--- a ----- ${key("")}${key("")} -- b`, `--- a ----- ${redactionMark}${redactionMark} -- b`],
    ["-----BEGIN PRIVATE KEY----- only", "-----BEGIN PRIVATE KEY----- only"],
  ] as const) {
    for (const size of [1, 3, 20, 200]) {
      const stream = createStreamRedactor(() => []);
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end()).toBe(wanted);
    }
  }
});

test("a value that is only fetched while its text comes is found from then on", () => {
  let values: readonly string[] = [];
  const stream = createStreamRedactor(() => values);
  const first = stream.push("begins ");
  values = ["fresh-token-12345"];
  expect(first + stream.push("fresh-tok") + stream.push("en-12345 ok\n") + stream.end()).toBe(`begins ${redactionMark} ok\n`);
});

const token = `github_pat_${"11ABCDEFG0aBcDeFgHiJkLmNoPqRsTuVwXyZ".repeat(3)}`;

test.each(["\n", "\r\n", "\n    ", "\\n", "\\r\\n"])(
  "a held value goes from base64 and hex that is broken into lines, too (by %j)",
  (end) => {
    const broken = (text: string, columns: number): string => (text.match(new RegExp(`.{1,${columns}}`, "g")) ?? []).join(end);
    for (const around of ["", "u:", "you:"]) {
      const bytes = Buffer.from(`${around}${token}${around}`);
      for (const text of [
        broken(bytes.toString("base64"), 76),
        broken(bytes.toString("base64url"), 64),
        broken(bytes.toString("hex"), 60),
      ]) {
        const clean = redact(`before ${text} after`, [token]);
        expect(clean).toMatch(/^before .{0,12}\[redacted secret\].{0,12} after$/s);
        expect(redactDeep({ text }, [token])).toEqual({ text: clean.slice(7, -6) });
        if (end.startsWith("\\")) continue;
        for (const size of [1, 7, 80]) {
          const stream = createStreamRedactor(() => [token]);
          const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
          expect(pieces.map((piece) => stream.push(piece)).join("") + stream.end()).toBe(clean.slice(7, -6));
        }
      }
    }
  },
);

test("a held value of several lines goes with whatever line ends", () => {
  const lines = "first line of a key\nand its second";
  for (const text of [lines, lines.replace("\n", "\r\n"), JSON.stringify(lines.replace("\n", "\r\n")).slice(1, -1)])
    expect(redact(`a ${text} b`, [lines])).toBe(`a ${redactionMark} b`);
});

test("values that hold none of it come back as they are, deep ones too", () => {
  const value = { a: ["plain", { b: "text" }], n: 1, none: null };
  expect(redactDeep(value, [secret])).toBe(value);
  expect(redactDeep({ a: [secret, { [secret]: 1 }], n: null }, [secret])).toEqual({ a: [redactionMark, { [redactionMark]: 1 }], n: null });
  const exact = "4e1243bd22c66e76c2ba9eddc1f91394e57f9f83 /srv/a?b=c+d%20e YWJjZGVmZ2hpamtsbW5vcA==";
  expect(redact(exact, [secret])).toBe(exact);
});

test("a text in pieces shows the same as the whole would, wherever it is cut", () => {
  const key = `sk-${"a1B2".repeat(10)}`;
  const text = `one ${secret} two ${encodeURIComponent(secret)} three ${key} four p4ss/w+rd and five`;
  const wanted = redact(text, [secret]);
  for (let size = 1; size < 40; size += 1) {
    const stream = createStreamRedactor(() => [secret]);
    let shown = "";
    for (let at = 0; at < text.length; at += size) {
      shown += stream.push(text.slice(at, at + size));
      expect(wanted.startsWith(shown), `${size}: ${shown}`).toBe(true);
    }
    expect(shown + stream.end()).toBe(wanted);
  }
});
