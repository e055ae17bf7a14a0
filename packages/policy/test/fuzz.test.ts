import fc from "fast-check";
import { parse } from "unbash";
import { expect, test } from "vitest";
import { parseCommand } from "../src/index.ts";
import { allBuiltin } from "./matching.ts";
import { decide, identify } from "./world.ts";

const real = allBuiltin.flatMap((rule) => [...rule.examples, ...rule.counterexamples]).filter((example) => typeof example === "string");
const pieces = [
  "$(",
  ")",
  "`",
  "'",
  '"',
  "\\",
  "\n",
  ";",
  "&&",
  "||",
  "|",
  "&",
  ">",
  "<",
  "<<E",
  "{",
  "}",
  "[[",
  "]]",
  "((",
  "))",
  "$x",
  "*",
  "~",
  "#",
  " ",
  "\u0000",
  "é",
  "rm",
  "-rf",
  "/",
  "--",
  "eval",
  "sh -c",
  "if",
  "then",
  "fi",
  "case",
  "esac",
  "for",
  "do",
  "done",
  "function",
  "=",
  "!",
  "\ud800",
];

/** Real commands with pieces cut out, put in and swapped. */
const mutated = fc
  .tuple(fc.constantFrom(...real), fc.array(fc.tuple(fc.nat(400), fc.nat(6), fc.constantFrom(...pieces)), { maxLength: 4 }))
  .map(([command, changes]) =>
    changes.reduce(
      (line, [at, length, piece]) => line.slice(0, at % (line.length + 1)) + piece + line.slice((at % (line.length + 1)) + length),
      command,
    ),
  );
const line = fc.oneof(
  mutated,
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((found) => found.join(" ")),
);

test("no line makes the parser or the policy throw, and none is allowed that doesn't parse", async () => {
  await fc.assert(
    fc.asyncProperty(line, async (command) => {
      const parsed = parseCommand(command);
      const answer = await decide(command);
      expect(["allow", "review", "deny"]).toContain(answer.decision);
      if (parse(command).errors !== undefined || parsed.problems.length > 0) expect(answer.decision).not.toBe("allow");
      if (answer.provenRead) {
        expect(answer.decision).toBe("allow");
        expect(parsed.changesLookup).toBe(false);
      }
    }),
    { numRuns: 3000 },
  );
}, 60_000);

test("the same request gets the same answer", async () => {
  await fc.assert(
    fc.asyncProperty(line, async (command) => {
      expect(await decide(command)).toEqual(await decide(command));
    }),
    { numRuns: 300 },
  );
});

test("putting a review behind a command never makes it looser", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...real), fc.constantFrom("; ", " && ", "\n", " | ", " || "), async (command, glue) => {
      const answer = await decide(`${command.replace(/\\$/, "")}\n${glue === "\n" ? "" : `true${glue}`}git reset --hard`);
      expect(answer.decision).not.toBe("allow");
    }),
    { numRuns: 400 },
  );
});

test("a host that fails, or lies about nothing, ends in a review", async () => {
  const failing = async (): Promise<never> => {
    throw new Error("gone");
  };
  for (const command of ["cat README.md", "rm x", "echo x > y", "mv a b"]) {
    expect((await decide(command, { identify: failing })).decision, command).toBe("review");
  }
  expect((await decide({ tool: "write_file", path: "/srv/app/a" }, { identify: failing })).decision).toBe("review");
  expect((await decide("mv src/a.ts notes.txt", { isTracked: failing })).decision).toBe("review");
});

test("the host is asked a bounded number of times", async () => {
  let asked = 0;
  const counting = (path: string) => {
    asked++;
    return identify(path);
  };
  await decide(`cat ${Array.from({ length: 500 }, (_, i) => `f${i}`).join(" ")}`, { identify: counting });
  await decide(`rm ${Array.from({ length: 500 }, (_, i) => `g${i}`).join(" ")}`, { identify: counting });
  expect(asked).toBeLessThanOrEqual(128);
});
