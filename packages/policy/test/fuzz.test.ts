import fc from "fast-check";
import { parse } from "unbash";
import { expect, test } from "vitest";
import { parseCommand } from "../src/index.ts";
import { quoteWords } from "../src/rules/quote-words.ts";
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

/** Ways to run the same command, or to run it beside something harmless. None of them may make a review looser. */
const disguises: readonly ((command: string) => string)[] = [
  (command) => `timeout 5 bash -c ${quoteWords([command])}`,
  (command) => `eval ${quoteWords([command])}`,
  (command) => `sh -c ${quoteWords([command])}`,
  (command) => `env A=1 nice -n 5 bash -c ${quoteWords([command])}`,
  (command) => `echo "$(${command}\n)"`,
  (command) => `cat <(${command}\n)`,
  (command) => `x=$(${command}\n); echo "$x"`,
  (command) => `f() {\n${command}\n}; f`,
  (command) => `if true; then\n${command}\nfi`,
  (command) => `for i in 1 2; do\n${command}\ndone`,
  (command) => `(\n${command}\n) | cat`,
  (command) => `true &&\n{\n${command}\n}`,
  (command) => `ls || {\n${command}\n}`,
  (command) => `trap ${quoteWords([command])} EXIT`,
  (command) => `alias x=${quoteWords([command])}`,
  (command) => `bash <<'END_OF_IT'\n${command}\nEND_OF_IT`,
  (command) => `cat <<END_OF_IT\n$(${command}\n)\nEND_OF_IT`,
  (command) => `[[ -f a ]] && {\n${command}\n} >/dev/null 2>&1`,
  (command) => `case a in a)\n${command}\n;; esac`,
  (command) => `while ! {\n${command}\n}; do sleep 1; done`,
  (command) => `find . -name x -exec bash -c ${quoteWords([command])} \\;`,
  (command) => `ls | xargs -I{} bash -c ${quoteWords([command])}`,
  (command) => `watch ${quoteWords([command])}`,
];
const plainReviews = real.filter((command) => !/<<|#|\\$/.test(command) && !hasProblems(command));

function hasProblems(command: string): boolean {
  return parseCommand(command).problems.length > 0;
}

test("no wrapper, quoting or substitution around a command that is asked for makes it allowed", async () => {
  const asked: string[] = [];
  for (const command of plainReviews) if ((await decide(command)).decision !== "allow") asked.push(command);
  expect(asked.length).toBeGreaterThan(200);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...asked),
      fc.array(fc.constantFrom(...disguises), { minLength: 1, maxLength: 2 }),
      async (command, ways) => {
        const line = ways.reduce((inner, disguise) => disguise(inner), command);
        expect((await decide(line)).decision, line).not.toBe("allow");
      },
    ),
    { numRuns: 1500 },
  );
}, 60_000);

test("a word written in another way of quoting is the same word", async () => {
  const ways: readonly ((word: string) => string)[] = [
    (word) => `'${word}'`,
    (word) => `"${word}"`,
    (word) => `$'${[...word].map((each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}'`,
    (word) => `${word.slice(0, 1)}''${word.slice(1)}`,
    (word) => `\\${word}`,
    (word) => [...word].map((each) => `"${each}"`).join(""),
  ];
  const commands = ["rm -rf src", "git push --force", "sudo id", "curl example.com", "cat .env", "ls -la src", "git log -3", "npm publish"];
  for (const command of commands) {
    const plain = await decide(command);
    for (const way of ways) {
      const line = command.split(" ").map(way).join(" ");
      expect(await decide(line), line).toMatchObject({ decision: plain.decision, rule: plain.rule, provenRead: plain.provenRead });
    }
  }
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
