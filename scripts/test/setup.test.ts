import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/** A checkout with stand-ins for npm, apt and the rest, that write down how they were called. */
let root: string;
let calls: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast setup "));
  calls = join(root, "calls");
  for (const folder of ["scripts", "packages/holdfast/src", "path"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../setup.sh"), join(root, "scripts/setup.sh"));
  writeFileSync(join(root, "scripts/build.ts"), "");
  writeFileSync(join(root, "package-lock.json"), "{}");
  for (const tool of ["sh", "cat", "cmp", "cp", "find", "head", "flock", "mkdir", "touch", "tr", "grep", "paste", "rm", "sleep"]) {
    symlinkSync(spawnSync("which", [tool], { encoding: "utf8" }).stdout.trim(), join(root, "path", tool));
  }
  program("uname", `case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac`);
  program("id", `echo 0`);
  for (const tool of ["git", "bwrap", "socat", "chromium", "jq"]) program(tool, "exit 0");
  // The bundled Node only has to make the folder that a build makes.
  program(
    "npm",
    `echo "npm $* PATH=$PATH" >>"$CALLS"; sleep 0.3; mkdir -p node_modules/.bin
    printf '#!/bin/sh\\necho "node $*" >>"$CALLS"; mkdir -p packages/holdfast/dist; exit "\${BUILD_FAILS:-0}"\\n' >node_modules/.bin/node
    /bin/chmod +x node_modules/.bin/node`,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(name: string, script: string): void {
  rmSync(join(root, "path", name), { force: true });
  writeFileSync(join(root, "path", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, "path", name), 0o755);
}

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: `${join(root, "node_modules/.bin")}:${join(root, "path")}`, CALLS: calls, HOME: root, ...more };
}

function setUp(
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): { status: number | null; said: string; called: string[] } {
  rmSync(calls, { force: true });
  const { status, stderr, stdout } = spawnSync("/bin/sh", [join(root, "scripts/setup.sh"), ...args], {
    cwd: "/",
    env: environment(more),
    encoding: "utf8",
  });
  return { status, said: stdout + stderr, called: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [] };
}

test("the first run installs the locked packages with the system's npm and builds; the second does and says nothing", () => {
  const first = setUp();
  expect(first).toMatchObject({ status: 0, said: "setup: installing the locked packages (npm ci)\n" });
  expect(first.called).toEqual([`npm ci --no-audit --no-fund PATH=${join(root, "path")}`, "node scripts/build.ts"]);
  expect(setUp()).toEqual({ status: 0, said: "", called: [] });
});

test("a changed lock file installs again", () => {
  setUp();
  writeFileSync(join(root, "package-lock.json"), `{ "changed": true }`);
  expect(setUp().called[0]).toContain("npm ci");
});

test("a changed source builds again and installs nothing", () => {
  setUp();
  const later = new Date(Date.now() + 5000);
  writeFileSync(join(root, "packages/holdfast/src/main.ts"), "");
  utimesSync(join(root, "packages/holdfast/src/main.ts"), later, later);
  expect(setUp().called).toEqual(["node scripts/build.ts"]);
});

test("a failure shows the whole log, fails, and is tried again the next time", () => {
  program("npm", `echo "line one"; echo "npm broke" >&2; exit 7`);
  const { status, said } = setUp();
  expect(status).toBe(1);
  expect(said).toContain("line one\nnpm broke");
  expect(setUp().said).toContain("npm broke");
});

test("a failed build is not taken for a build", () => {
  expect(setUp([], { BUILD_FAILS: "1" }).status).toBe(1);
  expect(setUp().called).toEqual(["node scripts/build.ts"]);
});

test("two at once install once, and both find it done", async () => {
  const run = (): Promise<number | null> =>
    new Promise((resolve) =>
      spawn("/bin/sh", [join(root, "scripts/setup.sh")], { env: environment(), stdio: "ignore" }).on("exit", resolve),
    );
  expect(await Promise.all([run(), run()])).toEqual([0, 0]);
  expect(readFileSync(calls, "utf8").match(/^npm /gm)).toHaveLength(1);
});

test("as root on Debian the missing programs come from apt, the package lists only where they are needed", () => {
  rmSync(join(root, "path/bwrap"));
  program("apt-get", `echo "apt-get $*" >>"$CALLS"; case $* in *install*) [ -e lists ] ;; *update*) : >lists ;; esac`);
  const first = setUp();
  expect(first.status).toBe(0);
  expect(first.called.filter((call) => call.startsWith("apt-get")).map((call) => call.split(" ")[1])).toEqual([
    "install",
    "update",
    "install",
  ]);
  expect(first.called[0]).toContain("bubblewrap");
  const second = setUp();
  expect(second.called.map((call) => call.split(" ")[1])).toEqual(["install"]);
});

test("the browser is asked for by the tests alone", () => {
  rmSync(join(root, "path/chromium"));
  program("apt-get", `echo "apt-get $*" >>"$CALLS"`);
  expect(setUp().called.join()).not.toContain("chromium");
  expect(setUp(["--for", "test"]).called.join()).toContain("chromium");
});

test.each([
  ["apt-get", "sudo apt-get install -y bubblewrap"],
  ["dnf", "sudo dnf install -y bubblewrap"],
  ["pacman", "sudo pacman -S --needed bubblewrap"],
])("without root it names what is missing and how %s gets it, and goes on", (manager, advice) => {
  rmSync(join(root, "path/bwrap"));
  program("id", "echo 1000");
  program(manager, `echo "${manager} $*" >>"$CALLS"`);
  const { status, said, called } = setUp();
  expect(status).toBe(0);
  expect(said).toContain(advice);
  expect(said).toContain("--sandbox off");
  expect(called.map((call) => call.split(" ")[0])).toEqual(["npm", "node"]);
});

test("the SDK of the tests is installed into its own folder without what is optional, once for each lock file, by the tests alone", () => {
  const sdk = join(root, "packages/holdfast/test/codex-sdk");
  mkdirSync(sdk, { recursive: true });
  writeFileSync(join(sdk, "package-lock.json"), "{}");
  const installs = (...args: string[]): number => setUp(args).called.filter((call) => call.includes("--omit=optional")).length;
  expect([installs(), installs("--for", "test"), installs("--for", "test")]).toEqual([0, 1, 0]);
  expect(existsSync(join(sdk, "node_modules"))).toBe(true);
  writeFileSync(join(sdk, "package-lock.json"), `{ "changed": true }`);
  expect(installs("--for", "test")).toBe(1);
});

test("a wrong argument is refused", () => {
  expect(setUp(["--for", "nothing"]).status).toBe(2);
});
