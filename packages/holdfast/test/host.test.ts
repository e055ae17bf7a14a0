import { defaultConfig } from "../src/config/config.ts";
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clock } from "@holdfast/node/host/clock";
import { ids } from "@holdfast/node/host/ids";
import { createModels } from "../src/host/model.ts";
import { createSecrets } from "../src/host/secrets.ts";
import { openSigner } from "@holdfast/node/host/signer";
import { createWakeups } from "@holdfast/node/host/wakeups";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-host-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("ids are distinct, name their kind and sort by time", () => {
  const all = Array.from({ length: 2000 }, () => ids.next("ses"));
  expect(new Set(all).size).toBe(all.length);
  for (const id of all) expect(id).toMatch(/^ses_[0-9a-hjkmnp-tv-z]{26}$/);
  const times = all.map((id) => id.slice(4, 14));
  expect(times).toEqual(times.toSorted());
});

test("a sleep ends at once when it is aborted, before or during", async () => {
  await clock.sleep(60_000, AbortSignal.abort());
  const abort = new AbortController();
  const sleeping = clock.sleep(60_000, abort.signal);
  abort.abort();
  await expect(sleeping).resolves.toBeUndefined();
});

test("a ring wakes the listeners of that session, and polling wakes the others", async () => {
  const wakeups = createWakeups(null);
  const order: string[] = [];
  const never = new AbortController().signal;
  const other = wakeups.listen("b", never).then(() => order.push("polled"));
  const rung = wakeups.listen("a", never).then(() => order.push("rung"));
  wakeups.ring("a");
  await rung;
  await other;
  expect(order).toEqual(["rung", "polled"]);
});

test("processes that start at once agree on one signing key, which is private and kept", async () => {
  const path = join(folder, "keys", "signing.pem");
  const signers = await Promise.all([openSigner(path), openSigner(path), openSigner(path)]);
  expect(new Set(signers.map((signer) => signer.keyId)).size).toBe(1);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const again = await openSigner(path);
  const signature = await again.sign("the tip");
  const key = createPublicKey(await readFile(path, "utf8"));
  expect(verify(null, Buffer.from("the tip"), key, Buffer.from(signature, "base64"))).toBe(true);
});

test("a damaged signing key is told and left alone", async () => {
  const path = join(folder, "signing.pem");
  await writeFile(path, "no key");
  await expect(openSigner(path)).rejects.toMatchObject({ code: "store_failed" });
  expect(await readFile(path, "utf8")).toBe("no key");
});

/** A host's models, with the secrets that config and environment give. */
function modelsOf(config: typeof defaultConfig, env: Readonly<Record<string, string>>, notes: string[] = []) {
  const replay = () => Promise.reject(new Error("nothing is recorded here"));
  return createModels({
    config,
    env,
    secrets: createSecrets({ config, env, kept: {}, keyring: async () => null, others: [], onValue: () => undefined }).all,
    onNote: (note) => notes.push(note),
    onSent: () => undefined,
    replay,
  });
}

test("script:FILE is a model that says what the file says, and the same one each time", async () => {
  const path = join(folder, "script.yaml");
  await writeFile(path, "steps:\n  - text: hello\n");
  const models = modelsOf(defaultConfig, {});
  const model = await models(`script:${path}`);
  expect(model.id).toBe(`script:${path}`);
  expect(await models(`script:${path}`)).toBe(model);
  await expect(models(`script:${path}.missing`)).rejects.toMatchObject({ code: "no_model" });
});

test("a provider's model gets its key from the environment or the config, and only there", async () => {
  const config = { ...defaultConfig, providers: { local: { baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "LOCAL_KEY" } } };
  const secrets = createSecrets({
    config,
    env: { LOCAL_KEY: "local-secret-value", OPENAI_API_KEY: "openai-secret-value" },
    kept: {},
    keyring: async () => null,
    others: [],
    onValue: () => undefined,
  }).all;
  expect(await secrets.get("local")).toEqual({ value: "local-secret-value", expiresAt: null });
  expect(secrets.values().toSorted()).toEqual(["local-secret-value", "openai-secret-value"]);
  expect((await modelsOf(config, { LOCAL_KEY: "local-secret-value" })("local/qwen")).id).toBe("local/qwen");
});
