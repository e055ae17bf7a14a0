import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AttestedTurn } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { readKeys } from "../../src/evidence/keys.ts";
import { files, fixes, git, payloadOf } from "./adder.ts";
import { createPlace } from "./run.ts";

describe("only what was verified", { timeout: 120_000 }, () => {
  test("is attested: any other end leaves the file empty, and says so", async () => {
    const own = await createPlace(fixes, files);
    const path = join(dirname(own.home), "b.json");
    writeFileSync(path, "an earlier one");
    const done = await own.start(["exec", "--attest", path, "fix add"]).finished;
    expect([done.code, readFileSync(path, "utf8")]).toEqual([0, ""]);
    const refused = await own.start(["attest"]).finished;
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("unverified: only what was verified is attested"),
    ]);
    expect((await own.start(["exec", "--ephemeral", "--attest", path, "fix add"]).finished).code).toBe(2);
  });

  test("a commit that holds exactly the tested files is named, and one that holds others isn't", async () => {
    const own = await createPlace(fixes, files);
    expect(
      (
        await own.start([
          "exec",
          "--check",
          "sh test.sh",
          "--constraint",
          "no new dependency",
          "--constraint",
          "be kind",
          "fix add, don't touch test.sh",
        ]).finished
      ).code,
    ).toBe(0);
    const subjects = async () =>
      (JSON.parse(payloadOf((await own.start(["attest"]).finished).stdout)) as { subject: unknown[] }).subject.slice(1);
    expect(await subjects()).toEqual([]);
    const { checks, unjudged } = (
      JSON.parse(payloadOf((await own.start(["attest"]).finished).stdout)) as { predicate: { holdfast: AttestedTurn } }
    ).predicate.holdfast;
    expect([unjudged, checks.map(({ name, constraint }) => [name, constraint])]).toEqual([
      1,
      [
        ["sh test.sh", undefined],
        ["no new dependency", "flag"],
        ["a constraint in the user's words", "words"],
      ],
    ]);
    git(own.workspace, "commit", "-qam", "fix");
    const [tree, commit] = git(own.workspace, "rev-parse", "HEAD^{tree}", "HEAD").split("\n");
    expect(await subjects()).toEqual([
      { name: "git-tree", digest: { gitTree: tree } },
      { name: "git-commit", digest: { gitCommit: commit } },
    ]);
    writeFileSync(join(own.workspace, "more.txt"), "more\n");
    expect(await subjects()).toEqual([]);
  });

  test("a replaced key's attestations hold until it is taken away; the new one signs, and both files are their owner's alone", async () => {
    const own = await createPlace(fixes, files);
    const path = join(dirname(own.home), "b.json");
    const keys = join(own.home, ".holdfast/keys");
    expect((await own.start(["exec", "--check", "sh test.sh", "--attest", path, "fix add"]).finished).code).toBe(0);
    const before = (await readKeys(join(own.home, ".holdfast"))).own?.keyId ?? "";
    expect((await own.start(["keys", "rotate"]).finished).code).toBe(0);
    expect(statSync(join(keys, "signing.pem")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(keys, `replaced/${before}.pem`), "utf8")).toContain("PUBLIC KEY");
    expect((await own.start(["verify", path]).finished).stdout).toContain("a key that was replaced");
    expect((await own.start(["sessions", "verify", await own.session()]).finished).code).toBe(0);
    expect((await own.start(["attest", "-o", path, "--force"]).finished).code).toBe(0);
    expect((await own.start(["verify", path]).finished).stdout).toContain("(this home)");
    expect((await own.start(["keys", "remove", before]).finished).code).toBe(0);
    expect((await own.start(["sessions", "verify", await own.session()]).finished).code).toBe(6);
    expect((await own.start(["attest"]).finished).code).toBe(2);
    chmodSync(join(keys, "signing.pem"), 0o640);
    expect((await own.start(["attest"]).finished).stderr).toContain("key_invalid");
  });

  test("a changed or cut log is found by what was signed, and nothing of it is signed again", async () => {
    const own = await createPlace(fixes, files);
    const path = join(dirname(own.home), "b.json");
    expect((await own.start(["exec", "--check", "sh test.sh", "--attest", path, "fix add"]).finished).code).toBe(0);
    const store = join(own.home, ".holdfast/sessions.db");
    const tampered = async (sql: string) => {
      const database = new DatabaseSync(store);
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const whole = readFileSync(store);
      database.exec(sql);
      database.close();
      const verified = await own.start(["verify", path]).finished;
      const signedAgain = await own.start(["attest"]).finished;
      const inspected = await own.start(["inspect"]).finished;
      for (const suffix of ["-wal", "-shm"]) rmSync(`${store}${suffix}`, { force: true });
      writeFileSync(store, whole);
      return [
        verified.code,
        /the log of .*/.exec(verified.stdout.replace(/\s+/g, " "))?.[0] ?? "",
        signedAgain.code,
        inspected.stdout.includes("DAMAGED"),
      ];
    };
    expect((await own.start(["inspect"]).finished).stdout).not.toContain("DAMAGED");
    expect((await own.start(["verify", path]).finished).code).toBe(0);
    expect(await tampered("UPDATE events SET payload = replace(payload, '$1 + $2', '$1 * $2') WHERE payload LIKE '%$1 + $2%'")).toEqual([
      3,
      expect.stringContaining("was changed or damaged"),
      1,
      true,
    ]);
    // Content that nothing erased: the chain of headers holds.
    const taken = "UPDATE events SET payload = NULL, salt = NULL WHERE type LIKE 'call.%' OR type = 'sampling.settled'";
    expect(await tampered(taken)).toEqual([3, expect.stringContaining("was changed or damaged"), 1, true]);
    const cut = "DELETE FROM events WHERE seq > 9; UPDATE sessions SET seq = 9; UPDATE heads SET head = json_set(head, '$.seq', 9)";
    expect(await tampered(cut)).toEqual([3, expect.stringContaining("it was cut off"), 2, false]);
    expect((await own.start(["verify", path]).finished).code).toBe(0);
  });

  test("content of it that was erased later is named, also where a record that nobody signed says that it was", async () => {
    const own = await createPlace(fixes, files);
    const path = join(dirname(own.home), "b.json");
    await own.start(["exec", "--check", "sh test.sh", "--attest", path, "fix add"]).finished;
    const session = await own.session();
    const verified = async () => {
      const { code, stdout } = await own.start(["verify", path, "--json"]).finished;
      const { findings } = JSON.parse(stdout) as { findings: { kind: string; says: string; detail: string }[] };
      return [code, ...findings.flatMap(({ kind, says, detail }) => (kind.startsWith("log") ? [`${kind} ${says} ${detail}`] : []))];
    };
    const whole = expect.stringContaining("log holds");
    expect(await verified()).toEqual([0, whole]);
    const items = (await own.start(["sessions", "show", session, "--items", "--json"]).finished).stdout.trim().split("\n");
    const result = items
      .map((line) => JSON.parse(line) as { item: { kind: string; id: string } })
      .find(({ item }) => item.kind === "tool_result");
    expect((await own.start(["sessions", "erase", session, result?.item.id ?? ""]).finished).code).toBe(0);
    const named = /^log_erased note of what was signed, 1 item \(in \d+ events?\) was erased later, 20[-\d]+T[:.\d]+Z/.source;
    expect(await verified()).toEqual([0, whole, expect.stringMatching(`${named}; the end of no later turn vouches for that$`)]);
    await own.exec("resume", session, "again");
    expect(await verified()).toEqual([0, whole, expect.stringMatching(`${named}$`)]);
  });
});
