import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

test("a project's prompt is used by name once the project is trusted, and reaches the model with its arguments", async () => {
  const place = await createPlace(() => ({ text: "Fixed." }), {
    ".holdfast/prompts/fix.md": "---\ndescription: fixes a file\narguments: file why?\n---\nFix $1 for a good reason.\n",
  });
  const before = await place.exec("/fix a.ts");
  expect([before.code, before.stderr.includes("not trusted")]).toEqual([2, true]);
  expect(place.server.requests).toEqual([]);
  const trusted = await place.start(["trust"]).finished;
  expect(trusted.stderr).toContain(".holdfast/prompts");
  expect((await place.start(["prompts"]).finished).stdout).toMatch(/\/fix file why\? +project +fixes a file/);
  const run = await place.exec("/fix 'a b.ts'");
  expect([run.code, run.stdout]).toEqual([0, "Fixed.\n"]);
  expect(JSON.stringify(place.server.requests[0])).toContain("Fix a b.ts for a good reason.");
});
