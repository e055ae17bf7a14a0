import { describe, expect, test } from "vitest";
import { isPaired } from "./model-server.ts";
import { createPlace, until } from "./run.ts";

const ask = (input: object) => ({ name: "ask_user", input });
const which = ask({ question: "Which database?\u001b[31m", choices: ["Postgres", "SQLite"] });
const lines = (stdout: string) => stdout.split("\n").filter((line) => line !== "");

describe("a question without a terminal", () => {
  test("ends with exit status 4 and how to answer; another process answers; the session goes on", async () => {
    const place = await createPlace((results) =>
      results.length < 1
        ? { calls: [which, { name: "run_command", input: { command: "echo beside" } }] }
        : { text: `You said ${results[0]}.` },
    );
    const asked = await place.exec("go");
    expect(asked.code).toBe(4);
    expect(asked.stdout).toBe("");
    expect(asked.stderr).not.toContain("\u001b");
    expect(asked.stderr).toMatch(/Which database\?[\s\S]*1 {2}Postgres[\s\S]*2 {2}SQLite/);
    expect(asked.stderr).toContain("beside");
    const question = /holdfast answer (qst_\w+) --choice N/.exec(asked.stderr)?.[1];
    const session = /exec resume (ses_\w+)/.exec(asked.stderr)?.[1];

    const still = await place.exec("resume", "--last");
    expect([still.code, still.stderr.includes(`holdfast answer ${question}`)]).toEqual([4, true]);
    const shown = await place.start(["answer"]).finished;
    expect(shown.stdout).toMatch(/SQLite[\s\S]*holdfast answer/);
    expect((await place.start(["answer", session ?? "", question ?? "", "--choice", "3"]).finished).stderr).toContain("choices 1 to 2");
    expect((await place.start(["answer", "--choice", "2", "--choice", "1"]).finished).stderr).toContain("only one choice");
    expect((await place.start(["answer", "--choice", "2"]).finished).code).toBe(0);
    const none = await place.start(["answer"]).finished;
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "no question waits for an answer\n"]);
    const again = await place.start(["answer", question ?? "", "--choice", "1"]).finished;
    expect([again.code, again.stderr.includes("question_closed")]).toEqual([2, true]);

    const resumed = await place.exec("resume", session ?? "");
    expect([resumed.code, resumed.stdout]).toEqual([0, "You said SQLite.\n"]);
    const late = await place.start(["answer", question ?? "", "--choice", "1"]).finished;
    expect([late.code, late.stderr.includes("question_not_found")]).toEqual([2, true]);
    for (const request of place.server.requests) expect(isPaired(request)).toBe(true);
  });

  test("is in the JSON events, takes one of several answers at once, and a kill -9 while another process waits with it loses nothing", async () => {
    const place = await createPlace((results) =>
      results.length < 1 ? { calls: [ask({ question: "Go where?" })] } : { text: results[0] ?? "" },
    );
    const asked = await place.exec("--json", "go");
    expect(asked.code).toBe(4);
    const events = lines(asked.stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
    const question = { text: "Go where?", choices: [], allows_text: true, is_multiple: false };
    expect(events.find(({ type }) => type === "item.updated")).toMatchObject({ item: { tool: "ask_user", question } });
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", outcome: "waiting", exit_status: 4, questions: [question] });

    const places = ["to the lake", "to the sea", "to the hills"];
    const given = await Promise.all(places.map((where) => place.start(["answer", where]).finished));
    const taken = places.filter((_, at) => given[at]?.code === 0);
    expect(taken).toHaveLength(1);
    for (const { code, stderr } of given) expect(code === 0 || stderr.includes("question_closed")).toBe(true);
    const resumed = place.start(["exec", "resume", "--last"]);
    await until(() => place.server.requests.length > 1, "the model was asked again");
    resumed.child.kill("SIGKILL");
    await resumed.finished;
    const again = await place.exec("resume", "--last");
    expect([again.code, again.stdout]).toEqual([0, `${taken[0]}\n`]);
  });

  test("can't be answered in an ephemeral session, which is told", async () => {
    const place = await createPlace(() => ({ calls: [which] }));
    const run = await place.exec("--ephemeral", "go");
    expect([run.code, run.stderr.includes("can't be answered")]).toEqual([4, true]);
  });

  test("in piped line mode the next line is the answer", async () => {
    const place = await createPlace((results) => (results.length < 1 ? { calls: [which] } : { text: `Took ${results[0]}.` }));
    const run = await place.start(["--model", "openai/test"], { stdin: "go\n2\n" }).finished;
    expect([run.code, run.stdout]).toEqual([0, "Took SQLite.\n"]);
  });
});

test("a plan is shown as it goes, is a todo list in the JSON events, and says what remains when a limit ends the turn", async () => {
  const plan = (status: string) => ({
    name: "update_plan",
    input: {
      plan: [
        { step: "look\u001b[2J", status: "completed" },
        { step: "build", status },
      ],
    },
  });
  const place = await createPlace((results) => ({ calls: [plan(results.length < 1 ? "pending" : "in_progress")] }));
  const run = await place.exec("--max-steps", "2", "go");
  expect(run.code).toBe(5);
  expect(run.stderr).toContain("plan: 1 of 2 steps done\n  [x] look<U+001B>[2J\n  [>] build");
  expect(run.stderr).not.toContain("\u001b");
  expect((await place.start(["sessions", "show", await place.session()]).finished).stdout).toMatch(
    /plan\n {2}\[x\] look<U\+001B>\[2J\n {2}\[>\] build/,
  );

  const events = lines((await place.exec("--max-steps", "2", "--json", "go")).stdout).map((line) => JSON.parse(line));
  const lists = events.filter(({ item }) => item?.type === "todo_list");
  expect(lists.map(({ type }) => type)).toEqual(["item.started", "item.updated", "item.completed"]);
  expect(new Set(lists.map(({ item }) => item.id)).size).toBe(1);
  expect(lists.at(-1).item.items).toMatchObject([{ completed: true }, { text: "build", completed: false, status: "in_progress" }]);
  expect(events.filter(({ item }) => item?.type === "mcp_tool_call")).toEqual([]);
  expect(events.at(-1).report.plan).toHaveLength(2);
});
