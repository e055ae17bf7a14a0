import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBlobs } from "@holdfast/stores";
import { describe, expect, onTestFinished, test } from "vitest";
import { keptText, readKept } from "../src/secrets/kept-file.ts";
import { scrubFile } from "../src/secrets/scrub.ts";
import { sealBlobs } from "../src/secrets/sealed-blobs.ts";
import { createSecretStore, type SecretDefinition } from "../src/secrets/store.ts";

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};
const none: SecretDefinition = { fromEnvironment: null, kept: null, refresh: null };

function store(definition: Partial<SecretDefinition>, now = () => 0) {
  const told: string[] = [];
  const keyring = {
    title: "k",
    set: async () => undefined,
    get: async (name: string) => `from the keyring: ${name}`,
    remove: async () => undefined,
  };
  const secrets = createSecretStore({
    find: (name) => (name === "there" ? { ...none, ...definition } : null),
    keyring: async () => keyring,
    clock: { now },
    values: ["held from the start"],
    onValue: (value) => told.push(value),
  });
  return { secrets, told };
}

describe("a secret by name", () => {
  test("comes from the environment, else from where it is kept; whatever comes up is held from then on", async () => {
    const kept = { in: "keyring", expiresAt: null } as const;
    expect(await store({ fromEnvironment: "from the environment", kept }).secrets.get("there")).toMatchObject({
      value: "from the environment",
    });
    const { secrets, told } = store({ kept, hosts: ["a.example.com"] });
    expect(await secrets.get("there")).toEqual({ value: "from the keyring: there", expiresAt: null, hosts: ["a.example.com"] });
    expect(await secrets.get("there")).not.toBeNull();
    expect([secrets.values(), told]).toEqual([["held from the start", "from the keyring: there"], ["from the keyring: there"]]);
    expect(secrets.values()).toBe(secrets.values());
    expect(await secrets.get("elsewhere")).toBeNull();
    expect((await store({ kept: { in: "file", value: "in the file", expiresAt: null } }).secrets.get("there"))?.value).toBe("in the file");
  });

  test("that ends is asked for anew a little before, once for all who wait, and is gone where nobody gives it", async () => {
    let now = 0;
    let asked = 0;
    const refresh = async () => ({ value: `fresh token ${(asked += 1)}`, expiresAt: now + 100_000 });
    const { secrets } = store({ kept: { in: "file", value: "old token", expiresAt: 60_000 }, refresh }, () => now);
    expect((await secrets.get("there"))?.value).toBe("old token");
    now = 31_000;
    expect(new Set((await Promise.all([1, 2, 3].map(() => secrets.get("there")))).map((found) => found?.value))).toEqual(
      new Set(["fresh token 1"]),
    );
    now = 100_000;
    expect(await secrets.get("there")).toEqual({ value: "fresh token 1", expiresAt: 131_000 });
    now = 101_500;
    expect((await secrets.get("there"))?.value).toBe("fresh token 2");
    expect(secrets.values()).toEqual(["held from the start", "old token", "fresh token 1", "fresh token 2"]);
    const over = store({ kept: { in: "file", value: "old token", expiresAt: 1_000 }, refresh: async () => null }, () => 2_000);
    expect(await over.secrets.get("there")).toBeNull();
    expect(await store({ refresh: () => Promise.reject(new Error("no")) }).secrets.get("there")).toBeNull();
  });

  test("is kept in a file that says nothing of its content where it is broken", () => {
    const path = join(folder(), "secrets.json");
    expect(readKept(path)).toEqual({});
    const kept = { A: { in: "file", value: "x", expiresAt: 5 }, B: { in: "keyring", expiresAt: null } } as const;
    writeFileSync(path, keptText(kept));
    expect(readKept(path)).toEqual(kept);
    for (const text of ["my secret", '{"version":2,"secrets":{}}', '{"version":1,"secrets":{"A":{"in":"file"}}}', "null"]) {
      writeFileSync(path, text);
      expect(() => readKept(path)).toThrow(/is not what holdfast secrets writes$/);
    }
  });
});

const secret = "hunter2/ü+hunter2";

test("a blob is stored without secrets and comes back to the byte, as long as they are held", async () => {
  const blobs = createMemoryBlobs();
  let held = [secret];
  const sealed = sealBlobs(blobs, () => held);
  const bytes = new Uint8Array([
    0,
    255,
    ...new TextEncoder().encode(`a ${secret} b ${encodeURIComponent(secret)}`),
    1,
    2,
    ...new TextEncoder().encode(secret),
  ]);
  const id = await sealed.put(bytes);
  expect(Buffer.from((await blobs.get(id)) ?? []).toString("latin1")).not.toContain("hunter2");
  expect(await sealed.get(id)).toEqual(bytes);
  expect(await sealed.put(bytes)).toBe(id);
  held = [];
  expect(await sealed.get(id)).not.toEqual(bytes);
  const plain = new Uint8Array([1, 2, 3]);
  expect(await sealed.get(await sealed.put(plain))).toEqual(plain);
  // What holds none goes on as it is, without a copy.
  const given: Uint8Array[] = [];
  const put = async (one: Uint8Array): Promise<string> => {
    given.push(one);
    return blobs.put(one);
  };
  await sealBlobs({ ...blobs, put }, () => [secret]).put(plain);
  expect(given[0]).toBe(plain);
});

test("an output is scrubbed in place: as long as before, with nothing of the secret, also where pieces of the file meet", () => {
  const path = join(folder(), "output");
  const around = "x".repeat(1024 * 1024 - 5);
  writeFileSync(path, `${secret}\n${around}${secret}${around}${secret}`);
  const before = readFileSync(path);
  scrubFile(path, [secret]);
  const after = readFileSync(path);
  expect(after.length).toBe(before.length);
  expect(after.includes("hunter2")).toBe(false);
  expect(after.toString("latin1").replaceAll("*", "")).toBe(`\n${around}${around}`);
  scrubFile(join(folder(), "none"), [secret]);
  const token = `github_pat_${"11ABCDEFG0aBcDeFgHiJkLmNoPqRsTuVwXyZ".repeat(3)}`;
  const broken = execFileSync("base64", { input: `${"y".repeat(776_000)}${token}`, maxBuffer: 2 ** 24 });
  writeFileSync(path, broken);
  scrubFile(path, [token]);
  expect(readFileSync(path).length).toBe(broken.length);
  expect(Buffer.from(readFileSync(path, "latin1").replaceAll("*", "A"), "base64").toString("latin1")).not.toMatch(/github|[A-Z]{8}\w/);
});
