import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace, processesWith, until } from "./run.ts";

const run = (command: string, more: object = {}) => ({ name: "run_command", input: { command, ...more } });
const handleIn = (result: string) => /write_input (\S+);/.exec(result)![1]!;

test("a program with a terminal outlives its driver, and the resumed session types to it", async () => {
  const place = await createPlace((results) => {
    if (results.length === 0) return { calls: [run("echo ready; read name; echo hello $name > said; cat said", { tty: true })] };
    if (results.length === 1)
      return { calls: [{ name: "write_input", input: { handle: handleIn(results[0]!), input: "ana\n" } }], delayMs: 300 };
    return { text: results[1]! };
  });
  const killed = place.start(["exec", "go"]);
  await until(() => place.server.requests.length === 2, "the program waits to be typed to, and the model is asked");
  killed.child.kill("SIGKILL");
  await killed.finished;
  const { code, stdout } = await place.exec("resume", "--last");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "exit code 0\nana\nhello ana\n" });
  expect(readFileSync(join(place.workspace, "said"), "utf8")).toBe("hello ana\n");
  await until(() => processesWith(place.marker).length === 0, "nothing is left");
});

test("what is typed to a shell is judged like a command: a push needs a person, whatever shell asks", async () => {
  const place = await createPlace((results) => {
    if (results.length === 0) return { calls: [run("bash --norc", { tty: true })] };
    const type = (input: string) => ({ calls: [{ name: "write_input", input: { handle: handleIn(results[0]!), input } }] });
    if (results.length === 1) return type("touch made-by-hand\n");
    if (results.length === 2) return type("touch refused; git push origin main\n");
    if (results.length === 3) return type("\u0004");
    return { text: results[2]! };
  });
  const { stdout } = await place.exec("--approvals", "deny", "go");
  expect(stdout).toContain("was refused");
  expect(existsSync(join(place.workspace, "made-by-hand"))).toBe(true);
  expect(existsSync(join(place.workspace, "refused"))).toBe(false);
});

test("sequential-edit offset drift (P15): two edits of one file, proposed side by side, are made one after the other", async () => {
  const ten = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
  const edit = (old: string, fresh: string) => ({ name: "edit_file", input: { path: "a.txt", edits: [{ old, new: fresh }] } });
  const place = await createPlace(
    (results) =>
      results.length === 0
        ? { calls: [edit("line 2\nline 3\nline 4\n", "short\n"), edit("line 8", "eight!")] }
        : { text: results.join("\n") },
    { "a.txt": ten },
  );
  expect((await place.exec("go")).code).toBe(0);
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("line 1\nshort\nline 5\nline 6\nline 7\neight!\nline 9\nline 10\n");
});

test("utf8-split-across-chunks and invalid-bytes (X03, X17): events and the stored session hold the whole characters", async () => {
  const place = await createPlace((results) =>
    results.length === 0
      ? { calls: [run("printf '\\xe4'; sleep 0.2; printf '\\xbd\\xa0\\n'; printf 'ok \\xff end\\000\\n'; exit 2")] }
      : { text: "Done." },
  );
  const { stdout } = await place.exec("--json", "go");
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { item?: { type: string; aggregated_output?: string; exit_code?: number } });
  const expected = "exit code 2\n你\nok \\xff end\\x00\n";
  expect(events.map((event) => event.item).findLast((item) => item?.type === "command_execution")).toMatchObject({
    aggregated_output: expected,
    exit_code: 2,
  });
  expect(JSON.stringify(place.server.requests.at(-1))).toContain(JSON.stringify(expected).slice(1, -1));
});
