import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Script } from "./model-server.ts";
import type { Place } from "./run.ts";
import { createPlace, providers } from "./run.ts";

const script: Script = (results) => {
  if (results.length === 0)
    return {
      calls: [
        { name: "run_command", input: { command: "echo one" } },
        { name: "read_file", input: { path: "README.md" } },
      ],
    };
  return results.length < 3 ? { calls: [{ name: "run_command", input: { command: "seq 2000" } }] } : { text: "Done." };
};

async function replay(place: Place, session: string): Promise<{ code: number | null; report: Record<string, unknown> }> {
  // Without any key: nothing is asked.
  const env = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", GEMINI_API_KEY: "" };
  const { code, stdout, stderr } = await place.start(["replay", session, "--json"], { env }).finished;
  expect(stderr).toBe("");
  return { code, report: JSON.parse(stdout) as Record<string, unknown> };
}

test.each(providers)("every request over the wire of %s is built again to the byte, also after a resume", async (wire) => {
  const place = await createPlace(script);
  expect((await place.start(["exec", "go"], { wire }).finished).code).toBe(0);
  const session = await place.session();
  expect((await place.start(["exec", "resume", session, "and on"], { wire }).finished).code).toBe(0);
  const { code, report } = await replay(place, session);
  expect(report).toMatchObject({ isEqual: true, departure: null, requests: 4, bodies: 4, unrecorded: 0 });
  expect(code).toBe(0);
  expect(place.server.requests).toHaveLength(4);
});

test("a changed event is named, with what differs, and the exit status is 1", async () => {
  const place = await createPlace(script);
  await place.exec("go");
  const session = await place.session();
  const db = new DatabaseSync(join(place.home, ".holdfast", "sessions.db"));
  const { seq } = db.prepare("SELECT min(seq) AS seq FROM events WHERE type = 'call.settled' AND payload LIKE '%one%'").get() as {
    seq: number;
  };
  db.prepare("UPDATE events SET payload = replace(payload, 'one', 'two') WHERE seq = ?").run(seq);
  db.close();
  const { code, stdout } = await place.start(["replay", session]).finished;
  expect(stdout).toBe(`${session}: DEPARTS at event ${seq} (chain): the hash chain breaks (payload)\n`);
  expect(code).toBe(1);
});
