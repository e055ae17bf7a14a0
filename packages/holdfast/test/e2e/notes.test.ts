import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const through = (name: string, input: object) => ({ name: "use_tool", input: { name, input } });

test.each(["state", "fresh"])(
  "a note and the way back are there after a cut by rule, and the history gives what left the window (%s)",
  async (strategy) => {
    const lines = Array.from({ length: 1_500 }, (_, n) =>
      n === 700 ? "the walrus token is stored under shelf 41" : `row ${n} of the table`,
    );
    let from = 0;
    const place = await createPlace(
      (results, sampling) => {
        if (sampling === 1) return { calls: [{ name: "read_file", input: { path: "table.txt" } }] };
        if (sampling === 2) return { calls: [through("note_write", { section: "findings", text: "the table has a walrus" })] };
        // Here the conversation is shortened.
        if (sampling === 3) return { calls: [through("history_search", { query: "walrus token shelf" })] };
        if (sampling === 4) {
          from = Number(/event (\d+),/.exec(results.at(-1) ?? "")?.[1]);
          return { calls: [through("history_read", { from })] };
        }
        return { text: "Done." };
      },
      { "table.txt": lines.join("\n") },
    );
    const run = await place.exec(
      "--config",
      "compaction.trigger_steps=2",
      "--config",
      `compaction.strategy="${strategy}"`,
      "--config",
      "compaction.judgement=false",
      "look",
    );
    expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
    const requests = place.server.requests.map((request) => JSON.stringify(request));
    expect(/note_write|history_/.test(requests[0]!)).toBe(strategy === "fresh");
    expect(requests[2]).toContain("- [findings] the table has a walrus");
    expect(requests[2]).toContain("Where to look: events");
    expect(requests[2]).not.toContain("stored under shelf 41");
    expect(requests[3]).toContain("stored under shelf 41");
    expect(requests[3]).toContain("result of read_file (untrusted)");
    expect(requests[4]).toContain("row 0 of the table");
    const { stdout } = await place.start(["compactions", await place.session()]).finished;
    expect(stdout).toContain("1 notes");
  },
);
