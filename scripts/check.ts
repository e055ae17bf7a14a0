/** Everything about the tree that is checked without running it. Each counts as one test; see test.ts. */
import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const bin = join(root, "node_modules/.bin");

const checks: readonly { readonly name: string; readonly argv: readonly string[]; readonly mend: string }[] = [
  { name: "lint", argv: [join(bin, "oxlint"), "--deny-warnings"], mend: "oxlint --fix mends some of it" },
  { name: "format", argv: [join(bin, "oxfmt"), "--check"], mend: "npm run format" },
  { name: "types", argv: [join(bin, "tsc"), "-p", "tsconfig.json"], mend: "" },
  { name: "types of the core, without Node's", argv: [join(bin, "tsc"), "-p", "tsconfig.core.json"], mend: "" },
  {
    name: "types of programs on Codex's SDK",
    argv: [join(bin, "tsc"), "-p", "packages/holdfast/test/codex-sdk"],
    mend: "sh scripts/setup.sh --for test installs the SDK",
  },
  { name: "unused code and dependencies", argv: [join(bin, "knip"), "--no-config-hints"], mend: "" },
  { name: "dependency arrows", argv: [process.execPath, "scripts/check-arrows.ts"], mend: "the rules are in docs/architecture.md" },
  { name: "exported schemas", argv: [process.execPath, "scripts/export-schemas.ts", "--check"], mend: "npm run schemas" },
  { name: "built-in rules", argv: [process.execPath, "scripts/export-presets.ts", "--check"], mend: "npm run schemas" },
  { name: "config reference", argv: [process.execPath, "scripts/export-config.ts", "--check"], mend: "npm run schemas" },
];

/** Runs every check, two at a time, says how each went, and gives back how many passed and failed. */
export async function runChecks(): Promise<{ readonly passed: number; readonly failed: number }> {
  const waiting = [...checks];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const started = Date.now();
      const { ok, output } = await run(check.argv);
      console.log(`${ok ? "✓" : "✗"} ${check.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
      if (ok) continue;
      failed += 1;
      console.log(output.trimEnd());
      if (check.mend !== "") console.log(`  → ${check.mend}`);
    }
  };
  await Promise.all([work(), work()]);
  return { passed: checks.length - failed, failed };
}

async function run([command = "", ...args]: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }> {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return await new Promise((resolve) => {
    child.on("error", (error) => resolve({ ok: false, output: error.message }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

if (import.meta.main) {
  const { failed } = await runChecks();
  process.exitCode = failed > 0 ? 1 : 0;
}
