import { isHoldfastError } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { parseScript } from "../src/index.ts";

const yaml = `# The demo.
steps:
  - reasoning: Find it first.
    text: I look at the tests.
    calls:
      - name: read_file
        input: { path: login.js }
      - { name: search, input: '{"cut' }
      - name: list
    deltas: 3
    delayMs: 100
  - expect: { lastResultContains: password, lastStatus: completed }
    fail: { class: rate_limited, status: 429, retryAfterMs: 1000, code: slow, message: Wait. }
    repeat: 2
  - text: |
      Done.
    isCutShort: false
`;

function errorOf(text: string): string {
  try {
    parseScript(text, "demo.yaml");
  } catch (error) {
    if (isHoldfastError(error, "model_script")) return error.message;
    throw error;
  }
  throw new Error("it was taken");
}

describe("a script file", () => {
  it("is read from YAML, with the line of each step", () => {
    expect(parseScript(yaml, "demo.yaml")).toEqual({
      name: "demo.yaml",
      lines: [3, 12, 15],
      steps: [
        {
          reasoning: "Find it first.",
          text: "I look at the tests.",
          calls: [
            { name: "read_file", input: { path: "login.js" } },
            { name: "search", input: '{"cut' },
            { name: "list", input: {} },
          ],
          deltas: 3,
          delayMs: 100,
        },
        {
          expect: { lastResultContains: "password", lastStatus: "completed" },
          fail: { class: "rate_limited", status: 429, retryAfterMs: 1000, code: "slow", message: "Wait." },
          repeat: 2,
        },
        { text: "Done.\n", isCutShort: false },
      ],
    });
  });

  it("is read from JSON, and from a bare list", () => {
    expect(parseScript('{\n\t"steps": [\n\t\t{ "text": "Done." }\n\t]\n}', "s.json")).toEqual({
      name: "s.json",
      lines: [3],
      steps: [{ text: "Done." }],
    });
    expect(parseScript("- text: a\n- text: b\n", "s.yaml").steps).toEqual([{ text: "a" }, { text: "b" }]);
  });

  it.each([
    ["", /^demo.yaml:1: the script must be a mapping, not nothing/],
    ["steps: []", /^demo.yaml:1: the script has no steps/],
    ["name: x", /^demo.yaml:1: name is no known key; here can stand steps/],
    ["steps:\n  - txt: hello", /^demo.yaml:2: steps\[0\]\.txt is no known key; here can stand reasoning, text/],
    ["steps:\n  - text: a\n  - text: 5", /^demo.yaml:3: steps\[1\]\.text must be text, not a number; put it in quotes/],
    ["- text: a\n- calls:\n  - input: {}", /^demo.yaml:3: \[1\]\.calls\[0\] needs the `name` of a tool/],
    ["- calls: {}", /^demo.yaml:1: \[0\]\.calls must be a list, not a mapping/],
    ["- fail:\n    class: boom", /^demo.yaml:2: \[0\]\.fail\.class must be one of rate_limited, /],
    ["- fail: {}", /^demo.yaml:1: \[0\]\.fail needs a `class`/],
    ["- expect:\n    lastStatus: ok", /^demo.yaml:2: \[0\]\.expect\.lastStatus must be one of completed, /],
    ["- repeat: 0\n  text: a", /^demo.yaml:1: \[0\]\.repeat must be a whole number from 1 to/],
    ["- text: a\n- - b", /^demo.yaml:2: \[1\] must be a mapping, not a list/],
    ["steps:\n  - text: 'open", /^demo.yaml:2: Missing closing/],
    ["steps: &a\n  - *b", /^demo.yaml:\d: .*[Uu]nresolved alias/],
    ["- __proto__: 1", /^demo.yaml:1: .*is no known key/],
  ])("with a fault is refused, with place and reason: %j", (text, message) => {
    expect(errorOf(text)).toMatch(message);
  });
});
