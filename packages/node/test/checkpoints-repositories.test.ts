import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createCheckpoints } from "../src/checkpoints/create.ts";
import { createObserver, openParts } from "../src/observer/index.ts";
import { makePlace, type Place } from "./observer-fixture.ts";

let place: Place;
afterEach(() => place.remove());

async function follow() {
  const input = {
    files: { cwd: place.dir, roots: [{ id: "main", path: place.dir }] },
    blobs: place.blobs,
    cacheDir: join(place.top, "cache"),
    home: place.home,
  };
  const parts = openParts(input);
  const observer = createObserver({ ...input, parts });
  const { manifest } = await observer.snapshot(null);
  const notes: string[] = [];
  const checkpoints = createCheckpoints({
    parts,
    blobs: place.blobs,
    home: place.home,
    mostBytes: 1_000_000_000,
    onNote: (note) => notes.push(note),
  });
  const take = () => checkpoints.take({ session: "ses", commands: ["x"], manifest });
  /** What a command did, as a confined one unless said otherwise. */
  const did = async (approved: readonly string[] | null = []) => {
    checkpoints.ended("ses", approved);
    await checkpoints.ready();
    return (await take()).changes.filter(({ by }) => by === "session").map(({ path }) => path.slice(place.dir.length + 1));
  };
  /** What the turn's outcome says of repositories. */
  const told = async () =>
    (await observer.changes(manifest, (await observer.snapshot(manifest)).manifest))
      .filter(({ path }) => path.endsWith(".git"))
      .map(({ path, change }) => `${change} ${path}`);
  await take();
  return { did, told, take, notes };
}

const ran = () => existsSync(join(place.top, "ran"));
const evil = () => `touch ${join(place.top, "ran")}; false`;

/** What a person does there later, with everything that git would run for it. */
function use(...folder: string[]): void {
  for (const args of [
    ["status"],
    ["add", "-A"],
    ["diff"],
    ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "x"],
  ])
    try {
      execFileSync("git", args, { cwd: join(place.dir, ...folder), stdio: "ignore", env: { ...process.env, HOME: place.home } });
    } catch {
      // A repository that is none any more is as good.
    }
}

const hook = (path: string): void => {
  place.write(path, `#!/bin/sh\n${evil()}\n`);
  chmodSync(join(place.dir, path), 0o755);
};
const init = (folder: string, ...config: string[]): void => {
  place.git("init", "-q", folder);
  for (let i = 0; i < config.length; i += 2) place.git("-C", folder, "config", config[i] ?? "", config[i + 1] ?? "");
};
const bare = (folder: string): void => {
  init("tmp", "core.fsmonitor", evil(), "core.bare", "false");
  renameSync(join(place.dir, "tmp/.git"), join(place.dir, folder));
};

const ways: readonly (readonly [string, string, () => void])[] = [
  ["a program in its configuration", "lib", () => init("lib", "core.fsmonitor", evil())],
  ["the same, deep in what is new", "a/b/lib", () => init("a/b/lib", "core.fsmonitor", evil())],
  [
    "a file that its configuration includes",
    "lib",
    () => (init("lib", "include.path", "../../more"), place.write("more", `[core]\nfsmonitor = "${evil()}"\n`)),
  ],
  ["hooks", "lib", () => (init("lib"), hook("lib/.git/hooks/pre-commit"))],
  ["hooks elsewhere", "lib", () => (init("lib", "core.hooksPath", "../hooks"), hook("hooks/pre-commit"))],
  ["a folder that is a repository by itself", "bare", () => (bare("bare"), place.git("-C", "bare", "config", "core.worktree", ".."))],
  ["a file that names one", "work", () => (bare("store"), place.write("work/.git", "gitdir: ../store\n"))],
  [
    "a link to one",
    "work",
    () => (bare("store"), mkdirSync(join(place.dir, "work")), symlinkSync("../store", join(place.dir, "work/.git"))),
  ],
  ["a folder that names another for it", "lib", () => (bare("store"), init("lib"), place.write("lib/.git/commondir", "../../store\n"))],
  [
    "a configuration behind a link",
    "lib",
    () => {
      init("lib");
      place.write("conf", `[core]\nfsmonitor = "${evil()}"\n`);
      renameSync(join(place.dir, "lib/.git/config"), join(place.dir, "lib/.git/old"));
      symlinkSync("../../conf", join(place.dir, "lib/.git/config"));
    },
  ],
  [
    "names taken in the way",
    "lib",
    () => {
      init("lib", "core.fsmonitor", evil());
      place.write("lib/.git/config.holdfast-set-aside/x", "x");
    },
  ],
];

describe.each([true, false])("a repository that a command makes (in one: %s)", (git) => {
  test.each(ways)("leaves nothing that git runs later: %s", async (_name, folder, make) => {
    place = makePlace({ git });
    place.write("a-file", "a");
    if (git) place.commit();
    const { did, notes } = await follow();
    make();
    place.write(`${folder}/code`, "x");
    await did();
    use(folder);
    if (git) use();
    expect(ran()).toBe(false);
    expect(notes.join("\n")).toMatch(/renamed to .*holdfast-set-aside/);
  });
});

test("a plain repository stays as it is, and the outcome names it; one that is armed later is found as well", async () => {
  place = makePlace({ git: true });
  place.write("a-file", "a");
  place.commit();
  const { did, told, notes } = await follow();
  init("lib", "remote.origin.url", "https://example.org/x.git", "branch.main.merge", "refs/heads/main");
  place.write("lib/code", "x");
  place.git("worktree", "add", "-q", "--detach", "tree");
  const before = readFileSync(join(place.dir, "lib/.git/config"), "utf8");
  expect(await did()).toContain("lib/code");
  expect(readFileSync(join(place.dir, "lib/.git/config"), "utf8")).toBe(before);
  expect(notes).toEqual([]);
  expect(await told()).toEqual(["added lib/.git", "added tree/.git"]);
  place.git("-C", "lib", "config", "alias.status", `!${evil()}`);
  await did();
  expect(notes).toHaveLength(1);
  expect(readdirSync(join(place.dir, "lib/.git"))).toContain("config.holdfast-set-aside");
});

test("what a repository that a command makes holds for its submodules and work trees runs nothing either", async () => {
  place = makePlace({ git: true });
  place.write("a-file", "a");
  place.commit();
  const { did, notes } = await follow();
  init("lib");
  init("sub", "core.fsmonitor", evil());
  mkdirSync(join(place.dir, "lib/.git/modules"));
  renameSync(join(place.dir, "sub/.git"), join(place.dir, "lib/.git/modules/sub"));
  place.write("lib/code", "x");
  await did();
  expect(readdirSync(join(place.dir, "lib/.git/modules/sub"))).toContain("config.holdfast-set-aside");
  place.write("lib/.git/worktrees/w/commondir", "../../../../sub\n");
  await did();
  expect(readdirSync(join(place.dir, "lib/.git/worktrees/w"))).toEqual(["commondir.holdfast-set-aside"]);
  expect(notes).toHaveLength(2);
});

test("what was there, what somebody else made, what was approved and what ran without a sandbox stays", async () => {
  place = makePlace({ git: true });
  place.write("a-file", "a");
  place.commit();
  init("deep/mine", "core.fsmonitor", "true");
  const { did, take, notes } = await follow();
  await did();
  init("deep/by-hand", "core.fsmonitor", "true");
  await take();
  await did();
  init("deep/approved", "core.fsmonitor", "true");
  await did([join(place.dir, "deep/approved/.git/config")]);
  init("deep/unconfined", "core.fsmonitor", "true");
  await did(null);
  await did();
  expect(notes).toEqual([]);
  for (const name of ["mine", "by-hand", "approved", "unconfined"])
    expect(existsSync(join(place.dir, "deep", name, ".git/config")), name).toBe(true);
  // A folder that was approved is not the repository in it.
  init("deep/in-folder", "core.fsmonitor", "true");
  await did([join(place.dir, "deep")]);
  expect(notes).toHaveLength(1);
  // A command that changes one of them is held to it.
  place.git("-C", "deep/mine", "config", "core.fsmonitor", evil());
  await did();
  expect(notes).toHaveLength(2);
});

test("what a repository below goes on with runs nothing new, and what its owner ordered", async () => {
  place = makePlace({ git: true });
  const todo = "lib/.git/rebase-merge/git-rebase-todo";
  init("lib");
  place.write(todo, "exec make mine\n");
  const { did, notes } = await follow();
  place.write(todo, "noop\nexec make mine\n");
  await did();
  expect(notes).toEqual([]);
  place.write(todo, `exec make mine\nexec ${evil()}\n`);
  await did();
  expect(notes.join()).toContain(`${join(place.dir, todo)} was renamed`);
});
