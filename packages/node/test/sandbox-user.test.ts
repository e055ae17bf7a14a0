import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, describe, expect, it } from "vitest";

const base = mkdtempSync(join(tmpdir(), "holdfast-test-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A folder that any user can read, with all that the script needs: this checkout may be readable by us alone. */
async function publish(): Promise<{ node: string; script: string; scripts: string }> {
  chmodSync(base, 0o755);
  const [node, script, scripts] = [join(base, "node"), join(base, "script.mjs"), join(base, "sh/")];
  const bundle = await rolldown({
    input: fileURLToPath(new URL("./sandbox-user-starter.ts", import.meta.url)),
    platform: "node",
    logLevel: "silent",
  });
  await bundle.write({ file: script, format: "esm", codeSplitting: false });
  await bundle.close();
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  cpSync(fileURLToPath(new URL("../sh", import.meta.url)), scripts, { recursive: true });
  for (const name of readdirSync(scripts)) chmodSync(join(scripts, name), 0o644);
  return { node, script, scripts };
}

describe("a user who is not root", () => {
  it("has the same sandbox, networks and endings", async () => {
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? 65_534 : (process.getuid?.() ?? 0);
    const { node, script, scripts } = await publish();
    const home = join(base, "user");
    mkdirSync(join(home, ".ssh"), { recursive: true });
    mkdirSync(join(home, "project"));
    writeFileSync(join(home, ".ssh/key"), "SECRET");
    execFileSync("git", ["init", "-q", join(home, "project")]);
    if (isRoot) execFileSync("chown", ["-R", `${user}:${user}`, home]);
    const env = { PATH: process.env["PATH"], HOME: home };
    const [program, ...first] = isRoot ? ["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", node] : [node];
    const said = execFileSync(program ?? "", [...first, script, home, scripts], { encoding: "utf8", env, cwd: "/" });
    const result: unknown = JSON.parse(said);
    expect(result).toEqual({
      problem: null,
      plain: expect.stringMatching(new RegExp(`^${user}\\nin\\nrefused\\ncat: .*\\nCapPrm:\\t0+\\nCapEff:\\t0+\\n[3-6]\\n$`)),
      commit: expect.stringMatching(/^1\n.*(?:Read-only|denied)/s),
      kept: expect.stringMatching(/moved .*\.vscode out[^]*moved .*mise out/),
      shared: "DEV\n",
      listed: expect.stringMatching(/^http\nHTTP\/1.1 403/),
      end: { type: "timed_out", afterMs: 300 },
      off: "off\n",
    });
    expect(existsSync(join(home, "out"))).toBe(false);
    expect(existsSync(join(home, "project/in"))).toBe(true);
    for (const name of [".vscode", ".config/mise"]) expect(existsSync(join(home, "project", name)), name).toBe(false);
    expect(readdirSync(join(home, "project/.git/hooks"))).not.toContain("pre-commit");
  });
});
