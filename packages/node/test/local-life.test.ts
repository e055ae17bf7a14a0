import { rmSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { sandboxFromRecipe } from "@holdfast/runtime/sandbox/from-recipe";
import { localProvider } from "@holdfast/node/sandbox/local-life";
import { makePlace, processesAt } from "./processes-fixture.ts";

const place = makePlace();
const processes = processesAt(place);
afterAll(async () => {
  await processes.endSession("session", { forget: true });
  rmSync(place.base, { recursive: true, force: true });
});

it("this machine is a sandbox that lasts as long as what its commands share: what its recipe installs is there for the session's commands", async () => {
  const confinement = { mode: "workspace-write", network: "none", scope: {}, roots: [place.workspace], purpose: "session" } as const;
  const provider = localProvider(processes, confinement, place.workspace);
  const parts = { secrets: { get: async () => null, values: () => [] }, clock: { now: Date.now, sleep: async () => undefined } };
  const recipe = { install: ["echo ready >/tmp/ready"], tools: ["sh", "no-such-program"], credentials: [] };
  const sandbox = sandboxFromRecipe(provider, recipe, parts);
  const life = await sandbox.open("session", null);
  expect([life.expiresAt, await sandbox.find(life.id)]).toEqual([null, life]);
  expect(await sandbox.find("session@another-boot")).toBe(null);
  expect((await provider.run(life.id, "cat /tmp/ready")).text).toBe("ready\n");
  // What its commands shared has ended with whoever drove it: another is there, with what the recipe installs.
  await processes.endSession("session", { forget: false });
  expect(await sandbox.find(life.id)).toBe(null);
  const next = await sandbox.open("session", null);
  expect((await provider.run(next.id, "cat /tmp/ready")).text).toBe("ready\n");
  expect(await sandbox.check(life.id)).toMatchObject({ problems: ["there is no program no-such-program"] });
  const broken = sandboxFromRecipe(provider, { ...recipe, install: ["echo why; exit 3"] }, parts);
  await expect(broken.open("session", null)).rejects.toMatchObject({
    code: "sandbox_unavailable",
    message: expect.stringMatching(/exit 3 ended with 3\.\nwhy/),
  });
});
