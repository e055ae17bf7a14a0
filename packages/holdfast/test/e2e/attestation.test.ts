import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { dirname, join } from "node:path";
import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { preAuthEncoding } from "@holdfast/checks/attestation/envelope";
import type { Verification } from "@holdfast/protocol";
import { openAttestation, verdictOf } from "../../src/evidence/findings.ts";
import { allKeys, readKeys } from "../../src/evidence/keys.ts";
import { repository } from "../pages.ts";
import { files, fixes, git, payloadOf } from "./adder.ts";
import type { Finished, Place } from "./run.ts";
import { createPlace } from "./run.ts";

/** One verified turn with its attestation, for all tests that only look. */
let place: Place;
let text: string;
let folder: string;
let publicKey: string;
const home = (): string => join(place.home, ".holdfast");
const run = (...args: string[]): Promise<Finished> => place.start(args).finished;

/** Kept from the clean-up after each test. */
const kept: (() => void)[] = [];
beforeAll(async () => {
  place = await createPlace(fixes, files, (undo) => kept.push(undo));
  folder = dirname(place.home);
  const done = await place.start(["exec", "--check", "sh test.sh", "--attest", join(folder, "a.json"), "fix add"]).finished;
  if (done.code !== 0 || !done.stderr.includes("attested in")) throw new Error(`no attestation was made: ${done.stderr}`);
  text = readFileSync(join(folder, "a.json"), "utf8");
  publicKey = (await run("keys", "show")).stdout;
}, 120_000);
afterAll(() => {
  for (const undo of kept) undo();
});

interface Verified {
  readonly code: number | null;
  readonly verdict: Verification["verdict"];
  readonly kinds: readonly string[];
  readonly details: string;
  readonly report: Verification;
}

async function verify(args: readonly string[], options: Parameters<Place["start"]>[1] = {}): Promise<Verified> {
  const { code, stdout, stderr } = await place.start(["verify", "--json", ...args], options).finished;
  expect(stderr).toBe("");
  const report = JSON.parse(stdout) as Verification;
  return {
    code,
    verdict: report.verdict,
    kinds: report.findings.map(({ kind, says }) => `${kind} ${says}`),
    details: report.findings.map(({ detail }) => detail).join("\n"),
    report,
  };
}

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** An envelope around any payload, signed with a key of one's own. */
function forged(
  payload: string,
  { payloadType = "application/vnd.in-toto+json", key = generateKeyPairSync("ed25519"), keyid = undefined as string | undefined } = {},
) {
  const envelope = {
    payloadType,
    payload: Buffer.from(payload).toString("base64"),
    signatures: [
      {
        ...(keyid === undefined ? {} : { keyid }),
        sig: sign(null, Buffer.from(preAuthEncoding(payloadType, payload)), key.privateKey).toString("base64"),
      },
    ],
  };
  return { text: JSON.stringify(envelope), pem: key.publicKey.export({ type: "spki", format: "pem" }).toString() };
}

describe("an attestation of a verified turn", { timeout: 120_000 }, () => {
  test("is verified by an independent implementation with nothing but the public key, and a changed one is not", () => {
    const envelope = JSON.parse(text) as { payload: string; payloadType: string; signatures: { keyid: string; sig: string }[] };
    const bundle = (dsse: object) =>
      bundleFromJSON({
        mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
        verificationMaterial: { publicKey: { hint: envelope.signatures[0]?.keyid }, tlogEntries: [] },
        dsseEnvelope: dsse,
      });
    const trusted = toTrustMaterial(
      { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [], mediaType: "" } as never,
      () => ({ publicKey: createPublicKey(publicKey), validFor: () => true }),
    );
    const verifier = new Verifier(trusted, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
    expect(verifier.verify(toSignedEntity(bundle(envelope))).key).toEqual(createPublicKey(publicKey));
    const changed = { ...envelope, payload: Buffer.from(payloadOf(text).replace("PASSED", "FAILED")).toString("base64") };
    expect(() => verifier.verify(toSignedEntity(bundle(changed)))).toThrow("signature verification failed");
    const other = { ...envelope, payloadType: "application/json" };
    expect(() => verifier.verify(toSignedEntity(bundle(other)))).toThrow("signature verification failed");
  });

  test("is an in-toto statement with a test result, under the exported schema, without folders of this machine", () => {
    const payload = payloadOf(text);
    const statement = JSON.parse(payload) as {
      predicate: { passedTests: string[]; configuration: { digest: { sha256: string }; content: string }[] };
    };
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://in-toto.io/attestation/test-result/v0.1",
      subject: [{ name: "workspace", digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string } }],
      predicate: {
        result: "PASSED",
        configuration: [{ name: "sh test.sh" }, { name: "policy" }],
        passedTests: ["sh test.sh", "sh test.sh > adds"],
        failedTests: [],
      },
    });
    const schemas = join(repository, "packages/protocol/schema");
    const validator = new Validator(
      JSON.parse(readFileSync(join(schemas, "attestation-statement.json"), "utf8")) as object,
      "2020-12",
      false,
    );
    for (const name of ["resource-descriptor", "attested-turn", "attested-check", "test-counts", "trust-label", "json"])
      validator.addSchema(JSON.parse(readFileSync(join(schemas, `${name}.json`), "utf8")) as object, `${name}.json`);
    expect(validator.validate(statement).errors).toEqual([]);
    expect(payload).not.toContain(place.workspace);
    expect(payload).not.toContain(place.home);
  });

  test("is valid here, with the log and the files, and each part is said", async () => {
    const found = await verify([join(folder, "a.json"), "--repo", place.workspace]);
    expect([found.code, found.verdict, found.kinds]).toEqual([0, "valid", ["signature holds", "log holds", "tree holds"]]);
    const shown = await run("verify", join(folder, "a.json"));
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^valid {2}turn 1 of ses_/)]);
  });

  test("it comes by stdin, too, and a pipe that nobody writes to isn't waited for", async () => {
    const { code, kinds } = await verify(["-", "--repo", place.workspace], { stdin: text });
    expect([code, kinds]).toEqual([0, ["signature holds", "log holds", "tree holds"]]);
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const ends = [
      ["verify", pipe],
      ["verify", join(folder, "a.json"), "--key", pipe],
      ["exec", "--prompt-file", pipe],
      ["exec", "--output-schema", pipe, "x"],
    ];
    for (const args of ends) {
      const { code: status, stderr } = await run(...args);
      expect([status, stderr], args.join(" ")).toEqual([
        expect.toSatisfy((one: number) => one > 0),
        expect.stringMatching(/it is a pipe, which\s+would be waited for/),
      ]);
    }
  });

  test("any changed byte is found, whatever stands there then", async () => {
    const keys = allKeys(await readKeys(home()));
    const bytes = readFileSync(join(folder, "a.json"));
    expect(verdictOf(openAttestation(bytes, keys).findings)).toBe("valid");
    const flipped = (at: number, to: number): string => {
      const changed = Uint8Array.from(bytes);
      changed[at] = to;
      return verdictOf(openAttestation(changed, keys).findings);
    };
    // Bytes of each part of it by one bit, the fields around the payload whole; and random ones by any value.
    const isField = (at: number): boolean => at < 80 || at > bytes.length - 160;
    for (let at = 0; at < bytes.length; at += isField(at) ? 1 : 5)
      expect(flipped(at, (bytes[at] ?? 0) ^ (1 << (at % 8))), `byte ${at}`).not.toBe("valid");
    const alphabets = ["+-", "-+", "/_", "_/"];
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, to) => {
        const was = bytes[at] ?? 0;
        // The same bytes in base64's other alphabet, which every reader of DSSE must take, are the same attestation.
        fc.pre(to !== was && !alphabets.includes(String.fromCharCode(was, to)));
        expect(flipped(at, to)).not.toBe("valid");
      }),
      { numRuns: 500 },
    );
    for (let at = 0; at < bytes.length; at += 37) expect(verdictOf(openAttestation(bytes.subarray(0, at), keys).findings)).toBe("invalid");
  });
});

describe("on another machine", { timeout: 120_000 }, () => {
  const elsewhere = () => {
    const other = join(folder, "elsewhere");
    mkdirSync(other, { recursive: true });
    return { env: { HOLDFAST_HOME: other } };
  };

  test("it can't be told without the key, and holds with it, by name or by file", async () => {
    const at = join(folder, "a.json");
    const without = await verify([at], elsewhere());
    expect([without.code, without.kinds[0], without.report.statement]).toEqual([6, "unknown_key unverifiable", null]);
    const pem = write("holdfast.pem", publicKey);
    expect((await verify([at, "--key", pem], elsewhere())).code).toBe(0);
    expect((await place.start(["keys", "add", "build-server", pem], elsewhere()).finished).code).toBe(0);
    const known = await verify([at, "--repo", place.workspace], elsewhere());
    expect([known.code, known.kinds]).toEqual([0, ["signature holds", "log_unseen note", "tree holds"]]);
    expect(known.details).toContain("build-server");
    const clash = await place.start(["keys", "add", "build-server", write("other.pem", forged("").pem)], elsewhere()).finished;
    expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining("file_exists")]);
    expect((await place.start(["keys", "remove", "build-server"], elsewhere()).finished).code).toBe(0);
    expect((await verify([at], elsewhere())).code).toBe(6);
  });

  test("a private key is refused where a public one is asked for, and so is a name that is a path", async () => {
    const mine = await place.start(["keys", "add", "x", join(home(), "keys/signing.pem")], elsewhere()).finished;
    expect([mine.code, mine.stderr]).toEqual([2, expect.stringContaining("a private key (key_invalid)")]);
    expect((await place.start(["keys", "add", "../../x", write("holdfast.pem", publicKey)], elsewhere()).finished).code).toBe(2);
    expect((await place.start(["verify", "--key", "/dev/null", join(folder, "a.json")], elsewhere()).finished).code).toBe(2);
  });

  test("a clone of the commit holds by its files and by git's tree, and one with another file doesn't", async () => {
    const copy = join(folder, "committed");
    cpSync(place.workspace, copy, { recursive: true });
    git(copy, "commit", "-qam", "fix");
    const clone = join(folder, "clone");
    git(folder, "clone", "-q", copy, clone);
    const at = join(folder, "a.json");
    expect((await verify([at, "--repo", clone])).kinds).toContain("tree holds");
    copyFileSync(at, join(clone, "beside.json"));
    expect((await verify([join(clone, "beside.json"), "--repo", clone])).details).toContain("with the attestation itself beside them");
    // Another's attestation doesn't hide a file.
    expect((await verify([at, "--repo", clone])).kinds).toContain("tree invalid");
    rmSync(join(clone, "beside.json"));
    chmodSync(join(clone, "add.sh"), 0o755);
    const changed = await verify([at, "--repo", clone]);
    expect([changed.code, changed.kinds]).toEqual([3, ["signature holds", "log holds", "tree invalid"]]);
    symlinkSync(clone, join(folder, "link"));
    chmodSync(join(clone, "add.sh"), 0o644);
    expect((await verify([at, "--repo", join(folder, "link", "..", "link")])).code).toBe(0);
  });
});

describe("input that means no good", { timeout: 120_000 }, () => {
  const invalid = async (content: string | Uint8Array, ...args: string[]) => {
    const found = await verify([write("bad.json", content), ...args]);
    return [found.code, found.verdict, found.kinds[0], found.report.statement] as const;
  };

  test("is found out, and nothing that nobody vouches for is passed on", async () => {
    const envelope = JSON.parse(text) as { payloadType: string; payload: string; signatures: { keyid: string; sig: string }[] };
    const [signature] = envelope.signatures;
    expect(await invalid("")).toEqual([3, "invalid", "envelope invalid", null]);
    expect(await invalid("[".repeat(5_000_000))).toEqual([3, "invalid", "envelope invalid", null]);
    expect(await invalid(text.replace("{", '{"payload":"",'))).toEqual([3, "invalid", "envelope invalid", null]);
    expect(await invalid(JSON.stringify({ ...envelope, payloadType: "application/json" }))).toEqual([
      3,
      "invalid",
      "payload_type invalid",
      null,
    ]);
    expect(
      await invalid(JSON.stringify({ ...envelope, payload: Buffer.from(payloadOf(text).replace("PASSED", "WARNED")).toString("base64") })),
    ).toEqual([3, "invalid", "signature invalid", null]);
    // A key's id says nothing: somebody else's signature under it is a forgery, and ours under another id isn't what was written.
    const mine = JSON.parse(forged(payloadOf(text)).text) as typeof envelope;
    const sig = mine.signatures[0]?.sig ?? "";
    expect(await invalid(JSON.stringify({ ...envelope, signatures: [{ keyid: signature?.keyid, sig }] }))).toEqual([
      3,
      "invalid",
      "signature invalid",
      null,
    ]);
    expect(await invalid(JSON.stringify({ ...envelope, signatures: [{ ...signature, keyid: "0123456789abcdef" }] }))).toEqual([
      3,
      "invalid",
      "signature invalid",
      null,
    ]);
    expect(await invalid(JSON.stringify({ ...envelope, signatures: [signature, { ...signature, sig }] }))).toEqual([
      3,
      "invalid",
      "signature invalid",
      null,
    ]);
    // One of a known key is enough; the other is named.
    const two = await verify([write("two.json", JSON.stringify({ ...envelope, signatures: [{ keyid: "feed", sig }, signature] }))]);
    expect([two.code, two.kinds]).toEqual([0, ["signature holds", "unknown_key note", "log holds", "tree_unseen note"]]);
  });

  test("is found out although its signature is right", async () => {
    const told = JSON.parse(payloadOf(text)) as {
      subject: unknown[];
      predicate: { result: string; configuration: { content?: string }[]; holdfast: { checks: object[] } };
    };
    const judged = async (payload: string, payloadType?: string) => {
      const { text: content, pem } = forged(payload, payloadType === undefined ? {} : { payloadType });
      const found = await verify([write("bad.json", content), "--key", write("bad.pem", pem)]);
      return [found.code, found.kinds.filter((kind) => !kind.endsWith("holds"))[0]];
    };
    const { predicate } = told;
    expect(await judged(JSON.stringify(told), "application/json")).toEqual([3, "payload_type invalid"]);
    expect(await judged("{}")).toEqual([3, "statement invalid"]);
    expect(await judged(JSON.stringify(told).replace('"predicate":', '"predicate":{},"predicate":'))).toEqual([3, "statement invalid"]);
    expect(await judged(JSON.stringify({ ...told, subject: [{ name: "workspace", digest: { sha1: "00" } }] }))).toEqual([
      3,
      "statement invalid",
    ]);
    expect(await judged(JSON.stringify({ ...told, predicate: { ...predicate, result: "FAILED" } }))).toEqual([3, "result invalid"]);
    const failing = predicate.holdfast.checks.map((check) => ({ ...check, passed: false }));
    expect(
      await judged(JSON.stringify({ ...told, predicate: { ...predicate, holdfast: { ...predicate.holdfast, checks: failing } } })),
    ).toEqual([3, "result invalid"]);
    const swapped = predicate.configuration.map((one) => ({
      ...one,
      content: Buffer.from('["command","true",[],[],1]').toString("base64"),
    }));
    expect(await judged(JSON.stringify({ ...told, predicate: { ...predicate, configuration: swapped } }))).toEqual([
      3,
      "statement invalid",
    ]);
    const after = { ...predicate.holdfast, endedAt: 8.64e15 + 1 };
    expect(await judged(JSON.stringify({ ...told, predicate: { ...predicate, holdfast: after } }))).toEqual([3, "statement invalid"]);
    const more = { ...predicate, passedTests: ["sh test.sh", "sh test.sh > all others"] };
    expect(await judged(JSON.stringify({ ...told, predicate: more }))).toEqual([3, "log invalid"]);
    // Who holds a key that counts and says of a session here what its log doesn't.
    const lying = predicate.holdfast.checks.map((check) => ({ ...check, baseline: "pass" }));
    expect(
      await judged(JSON.stringify({ ...told, predicate: { ...predicate, holdfast: { ...predicate.holdfast, checks: lying } } })),
    ).toEqual([3, "log invalid"]);
  });

  test("files without an end, and none, are refused", async () => {
    for (const path of ["/dev/zero", folder, join(folder, "none")]) {
      const found = await run("verify", path);
      expect([found.code, found.stdout], path).toEqual([1, ""]);
    }
    for (const where of ["/", "/proc", "/dev/fd"]) {
      const bad = await run("verify", join(folder, "a.json"), "--repo", where);
      expect([bad.code, bad.stderr], where).toEqual([2, expect.stringContaining("workspace_invalid")]);
    }
    expect((await run("verify", join(folder, "a.json"), "--repo", join(folder, "a.json"))).code).toBe(2);
  });
});

describe("run again", { timeout: 120_000 }, () => {
  const at = () => join(folder, "a.json");
  const rerun = (...args: string[]) => verify([at(), "--repo", place.workspace, "--rerun", ...args]);

  test("only what somebody here asked for is run, in the sandbox, and the files stay as they are", async () => {
    const unasked = await rerun();
    expect([unasked.code, unasked.kinds.at(-1)]).toEqual([6, "rerun_unapproved unverifiable"]);
    const asked = await rerun("--check", "sh test.sh");
    expect([asked.code, asked.kinds.at(-1)]).toEqual([0, "rerun holds"]);
    const other = await rerun("--check", "sh  test.sh");
    expect(other.code).toBe(6);
    expect(git(place.workspace, "status", "--porcelain")).toBe(" M add.sh\n");
  });

  test("a command that an attestation brings along runs nowhere, whoever signed it", async () => {
    const told = payloadOf(text);
    const command = `touch ${join(place.workspace, "pwned")}; touch ${join(folder, "pwned")}`;
    const definition = JSON.stringify(["command", command, [], [], 1000]);
    const sha256 = (await import("node:crypto")).createHash("sha256").update(definition).digest("hex");
    const was = JSON.parse(told) as {
      predicate: { configuration: object[]; holdfast: { checks: { definition: string; name: string }[] } };
    };
    was.predicate.configuration[0] = { name: "sh test.sh", digest: { sha256 }, content: Buffer.from(definition).toString("base64") };
    for (const check of was.predicate.holdfast.checks) Object.assign(check, { definition: sha256, name: "sh test.sh" });
    const { text: content, pem } = forged(JSON.stringify(was));
    const bad = write("bad.json", content);
    const signed = await verify([bad, "--repo", place.workspace, "--rerun", "--check", "sh test.sh", "--key", write("bad.pem", pem)], {
      env: { HOLDFAST_HOME: join(folder, "third") },
    });
    expect([signed.code, signed.kinds.at(-1)]).toEqual([6, "rerun_unapproved unverifiable"]);
    expect(signed.details).toContain("pwned");
    expect([existsSync(join(place.workspace, "pwned")), existsSync(join(folder, "pwned"))]).toEqual([false, false]);
  });

  test("what it says of a folder leads nowhere else, and patterns that nobody vouches for are not tried", async () => {
    const told = JSON.parse(payloadOf(text)) as { predicate: { holdfast: { scope: object } } };
    const judged = async (scope: object) => {
      const { holdfast } = told.predicate;
      const payload = {
        ...told,
        predicate: { ...told.predicate, holdfast: { ...holdfast, session: "ses_none", scope: { ...holdfast.scope, ...scope } } },
      };
      const { text: content, pem } = forged(JSON.stringify(payload));
      const args = [write("bad.json", content), "--repo", place.workspace, "--rerun", "--check", "sh test.sh"];
      const by = await verify([...args, "--key", write("bad.pem", pem)]);
      const nobody = await verify(args);
      return [by.kinds.slice(-2), nobody.kinds.slice(1)];
    };
    const [outside] = await judged({ cwd: "../../../../../../etc" });
    expect(outside).toEqual(["tree holds", "rerun_impossible unverifiable"]);
    const pattern = { outputs: ["no-such-file-*"] };
    expect((await judged(pattern))[1]).toEqual(["tree unverifiable", "rerun_impossible unverifiable"]);
    expect((await judged({ roots: ["root", "root2"] }))[0]).toEqual(["tree unverifiable", "rerun_impossible unverifiable"]);
  });

  test("without a key it can be run all the same, on these files alone", async () => {
    const found = await verify([at(), "--repo", place.workspace, "--rerun", "--check", "sh test.sh"], {
      env: { HOLDFAST_HOME: join(folder, "fourth") },
    });
    expect([found.code, found.kinds]).toEqual([6, ["unknown_key unverifiable", "tree holds", "rerun holds"]]);
    const copy = join(folder, "others");
    cpSync(place.workspace, copy, { recursive: true });
    writeFileSync(join(copy, "add.sh"), "echo 5; touch ran\n");
    const others = await verify([at(), "--repo", copy, "--rerun", "--check", "sh test.sh"]);
    expect([others.code, others.kinds.slice(-2), existsSync(join(copy, "ran"))]).toEqual([
      3,
      ["tree invalid", "rerun_impossible unverifiable"],
      false,
    ]);
  });
});
