import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const command = { calls: [{ name: "run_command", input: { command: "echo more >> README.md" } }] };

test("every view of a session says once that its log was changed, lost an event or content, and shows what can be read", async () => {
  const place = await createPlace((results) => (results.length === 0 ? command : { text: "Done." }));
  await place.exec("--sandbox", "off", "--approvals", "allow", "go on");
  const session = await place.session();
  const exported = join(place.home, "export.md");
  const show = ["sessions", "show", session];
  const context = ["context", session];
  const fork = ["fork", session];
  const all = [
    show,
    ["sessions", "show", session, "--items", "--json"],
    ["sessions", "export", session, "-o", exported, "--force"],
    context,
    ["compactions", session],
    ["undo", session, "--steps"],
    ["undo", session, "--dry-run"],
    fork,
  ];
  const seen = async (...all: readonly string[][]) => {
    const shown = await Promise.all(all.map((args) => place.start(args).finished));
    return shown.map(({ code, stderr }) => [code, stderr.split("\n").filter((line) => line.includes("session_corrupt")).length]);
  };
  const db = new DatabaseSync(join(place.home, ".holdfast", "sessions.db"));
  expect(await seen(show, fork)).toEqual([
    [0, 0],
    [0, 0],
  ]);
  // Content that nothing erased: a fork holds together all the same.
  db.exec("UPDATE events SET payload = NULL, salt = NULL WHERE type = 'call.decided'");
  expect(await seen(...all)).toEqual(all.map(() => [0, 1]));
  expect(readFileSync(exported, "utf8")).toContain("the log was changed or damaged: event");
  db.exec("DELETE FROM events WHERE type = 'call.settled'");
  db.close();
  expect(await seen(show, context, fork)).toEqual([
    [0, 1],
    [0, 1],
    [1, 1],
  ]);
});
