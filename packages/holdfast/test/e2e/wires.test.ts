import { describe, expect, test } from "vitest";
import type { Script } from "./model-server.ts";
import { isPaired } from "./model-server.ts";
import { createPlace, providers } from "./run.ts";

const command = (text: string) => ({ name: "run_command", input: { command: text } });
/** Each fault comes once for the sampling it hits. */
const once = (fault: 429 | 500 | "cut", at: readonly number[], script: Script): Script => {
  const left = new Set(at);
  return (results, sampling) => (left.delete(results.length) ? { ...script(results, sampling), fault } : script(results, sampling));
};
const steps =
  (count: number): Script =>
  (results) =>
    results.length < count ? { calls: [command(`echo step ${results.length + 1}`)] } : { text: "All steps done." };

describe.each(providers)("over the wire of %s", (wire) => {
  test.each([
    ["steps one after the other", steps(6), 6],
    [
      "parallel calls",
      ((results) =>
        results.length < 8
          ? { calls: [1, 2, 3, 4].map((n) => command(`echo ${results.length + n}`)) }
          : { text: "All steps done." }) as Script,
      8,
    ],
    [
      "20 kB of output a step",
      ((results) =>
        results.length < 3
          ? { calls: [command(`head -c ${20_000 + results.length} /dev/zero | tr '\\0' x`)] }
          : { text: "All steps done." }) as Script,
      3,
    ],
    [
      "a failing command",
      ((results) =>
        results.length < 2
          ? { calls: [command(`sh -c 'echo out${results.length}; echo err >&2; exit 3'`)] }
          : { text: "All steps done." }) as Script,
      2,
    ],
    ["an HTTP 500 on the way", once(500, [2], steps(4)), 4],
    ["an HTTP 429 with its time on the way", once(429, [1], steps(3)), 3],
    ["a cut stream on the way", once("cut", [1, 3], steps(4)), 4],
  ])("%s: the run ends well and every request is valid", async (_, script, results) => {
    const place = await createPlace(script);
    const { code, stdout, stderr } = await place.start(["exec", "go"], { wire }).finished;
    expect(stderr).not.toContain("internal");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "All steps done.\n" });
    for (const request of place.server.requests) expect(isPaired(request)).toBe(true);
    const last = JSON.stringify(place.server.requests.at(-1));
    expect(last.match(/call_output|"role":"tool"|"tool_result"|"functionResponse"/g)).toHaveLength(results);
  });
});

test("both the output and the exit status of a failing command reach the model", async () => {
  const seen: string[] = [];
  const place = await createPlace((results) => {
    seen.push(...results);
    return results.length < 1 ? { calls: [command("echo to-out; echo to-err >&2; exit 3")] } : { text: "Seen." };
  });
  await place.exec("go");
  expect(seen[0]).toMatch(/3[\s\S]*to-out[\s\S]*to-err/);
});
