import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makePlace, ownEnvironment, processesAt, resultOf, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";
import type { Place } from "./processes-fixture.ts";
import { secretFiles } from "@holdfast/node/sandbox/secret-files";
import type { ProcessesOptions } from "@holdfast/node/processes/index";

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

function git(folder: string, ...args: string[]): string {
  return execFileSync("git", ["-C", folder, "-c", "user.name=n", "-c", "user.email=e@example.org", ...args], { encoding: "utf8" });
}

function put(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

interface PersonOptions extends Omit<Partial<ProcessesOptions>, "environment"> {
  readonly root?: (place: Place) => string;
  readonly environment?: (userHome: string) => Record<string, string>;
}

/** A user's home with a workspace in it, and beside that somebody's repository. */
function person({ root: rootIn, environment, ...options }: PersonOptions = {}) {
  const place = makePlace();
  const root = rootIn?.(place) ?? place.workspace;
  const other = join(place.userHome, "other");
  git(place.userHome, "init", "-q", other);
  const processes = processesAt(place, {
    workspaceRoots: [root],
    environment: { ...ownEnvironment, HOME: place.userHome, ...environment?.(place.userHome) },
    ...options,
  });
  ends.push(async () => {
    await processes.endSession("session", { forget: true });
    rmSync(place.base, { recursive: true, force: true });
  });
  const run = async (command: string) => {
    const confinement = { mode: "workspace-write" as const, roots: [root] };
    return (await runToEnd(processes, specFor(place, command, { cwd: root, confinement }))).text;
  };
  return { place, root, other, run, processes };
}

const sha = "1234567890123456789012345678901234567890";

describe("names that a workspace lays itself", () => {
  it("open no folder outside: links on the way to a place of git's or of a program's", async () => {
    const { place, root, other, run } = person();
    git(root, "init", "-q");
    mkdirSync(join(place.userHome, ".config/mise"), { recursive: true });
    put(other, ".hg/hgrc", "kept");
    await run("ln -s ../.. .git/modules; ln -s ../.config .config; ln -s ../other/.hg .hg; ln -s ../other .jj");
    await run("for f in .git/modules/x .config/mise/x .config/x .hg/hgrc .hg/x .jj/x ../x ../.config/x; do echo evil >$f; done; true");
    for (const path of ["x", "project/../.config/x", ".config/mise/x", "other/.hg/x", "other/x"])
      expect(existsSync(join(place.userHome, path)), path).toBe(false);
    expect(readFileSync(join(other, ".hg/hgrc"), "utf8")).toBe("kept");
  });

  it("open no repository outside: one that the index names through a link, or above the root", async () => {
    const { root, other, run } = person();
    git(root, "init", "-q");
    put(other, ".git/hooks/pre-commit", "theirs");
    const before = readFileSync(join(other, ".git/config"), "utf8");
    await run(`ln -s .. lnk; git update-index --add --cacheinfo 160000,${sha},lnk/other`);
    // Git itself takes no path with `..`, but reads one.
    put(root, "a/a/other", "x");
    git(root, "add", "a");
    git(root, "update-index", "--add", "--cacheinfo", `160000,${sha},aa/other`);
    const index = join(root, ".git/index");
    writeFileSync(index, Buffer.from(readFileSync(index, "latin1").replaceAll("aa/other", "../other"), "latin1"));
    const text = await run("echo evil >../other/.git/refs/heads/evil; touch ../other/.git/x; true");
    for (const name of ["refs/heads/evil", "x"]) expect(existsSync(join(other, ".git", name)), name).toBe(false);
    expect(text).not.toContain("set-aside");
    expect(readFileSync(join(other, ".git/config"), "utf8")).toBe(before);
    expect(existsSync(join(other, ".git/hooks/pre-commit"))).toBe(true);
  });

  it("make the wrapper move nothing of somebody's away, whatever characters they are made of", async () => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    put(place.userHome, "important/thesis", "kept");
    put(root, `.git/modules/x\n${place.userHome}/important\ny/HEAD`, "ref: refs/heads/main\n");
    await run(`git update-index --add --cacheinfo 160000,${sha},$'x\\n${place.userHome}/important\\ny'`);
    const text = await run("cd .git/modules/x*; cd tmp/*/*/important*; mkdir hooks; echo evil >hooks/pre-commit");
    expect(readFileSync(join(place.userHome, "important/thesis"), "utf8")).toBe("kept");
    expect(text).toContain("moved");
    expect(existsSync(join(root, `.git/modules/x\n${place.userHome}/important\ny/hooks`))).toBe(false);
  });

  it("open no folder outside: a repository that the checkout brings with it", async () => {
    const { place, root, run } = person();
    put(root, ".git", "gitdir: fake\n");
    put(root, "fake/gitdir", "../.git\n");
    put(root, "fake/commondir", "../..\n");
    await run("echo evil >../outside; true");
    expect(existsSync(join(place.userHome, "outside"))).toBe(false);
  });

  it.each(["a link", "a file"])("keep what git would run where .git is %s to a folder of the workspace", async (kind) => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    renameSync(join(root, ".git"), join(root, "gitdata"));
    if (kind === "a link") symlinkSync("gitdata", join(root, ".git"));
    else writeFileSync(join(root, ".git"), "gitdir: gitdata\n");
    const evil = `git config core.fsmonitor 'touch ${place.base}/ran'`;
    const author = "-c user.name=n -c user.email=e@example.org";
    await run(`${evil}; echo evil >.git/hooks/pre-commit; echo evil >gitdata/hooks/pre-push; mv gitdata g; cp -r g gitdata; ${evil}; true`);
    expect(await run(`git ${author} commit -q --allow-empty -m one && git log --format=%s`)).toBe("one\n");
    git(root, "status");
    expect(existsSync(join(place.base, "ran"))).toBe(false);
    for (const name of ["pre-commit", "pre-push"]) expect(existsSync(join(root, "gitdata/hooks", name)), name).toBe(false);
  });

  it("keep a submodule's repository where the work tree's own lies outside the root", async () => {
    const { place, root, run } = person({ root: ({ userHome }) => join(userHome, "tree") });
    git(place.workspace, "init", "-q");
    git(place.workspace, "commit", "-q", "--allow-empty", "-m", "one");
    git(place.workspace, "init", "-q", "--bare", ".git/modules/sub");
    git(place.workspace, "worktree", "add", "-q", root);
    const modules = join(place.workspace, ".git/modules");
    await run(`mv ${modules} ${modules}2; cp -r ${modules}2 ${modules}; echo evil >>${modules}/sub/config; true`);
    expect(readFileSync(join(modules, "sub/config"), "utf8")).not.toContain("evil");
  });
});

describe("what runs when somebody comes by", () => {
  it("is made by no command at a root", async () => {
    const { root, run } = person();
    const names = [".githooks/pre-commit", ".lefthook/x", "lefthook.json", ".config/lefthook.yml", ".pdbrc", ".Rprofile", ".trae/x"];
    await run(`mkdir .githooks .lefthook .config .trae; for f in ${names.join(" ")}; do echo evil >$f; done; true`);
    for (const name of names) expect(existsSync(join(root, name)), name).toBe(false);
  });
});

describe("what git's configuration names", () => {
  it.each([
    ["with a comment", "[core]\n\thooksPath = .team # ours\n"],
    ["in quotes", '[core]\n\thooksPath = ".team" ; ours\n'],
    ["on one line", "[core] hooksPath = .team\n"],
    ["below the home folder", "[core]\n\thooksPath = ~/project/.team\n"],
    ["where a condition holds", '[include]\n\tpath = ../in\n[includeIf "onbranch:none"]\n\tpath = ../in\n'],
  ])("is kept, however it is written: %s", async (_, text) => {
    const { root, run } = person();
    git(root, "init", "-q");
    put(root, "in", "[core]\n\thooksPath = .team\n");
    writeFileSync(join(root, ".git/config"), text, { flag: "a" });
    await run("mkdir -p .team && echo evil >.team/pre-commit; true");
    expect(existsSync(join(root, ".team/pre-commit"))).toBe(false);
  });

  it("is kept where the user's own names it for all repositories, and from the command on that follows a change", async () => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    const team = "mkdir -p .team && echo evil >.team/pre-commit; true";
    await run(team);
    rmSync(join(root, ".team"), { recursive: true });
    put(place.userHome, ".gitconfig", "[core]\n\thooksPath = .team\n");
    await run(team);
    expect(existsSync(join(root, ".team"))).toBe(false);
  });
});

describe("what is hidden below a folder that a command writes in", () => {
  it("stays so when the folders above it are moved", async () => {
    const { place, run } = person({ root: ({ userHome }) => userHome });
    put(place.userHome, ".config/gh/hosts.yml", "SECRET");
    put(place.userHome, ".cargo/credentials.toml", "SECRET");
    await run("mv .config c2; mv .cargo k2; echo fine >.config/fine");
    expect(
      await run("cat c2/gh/hosts.yml k2/credentials.toml .config/gh/hosts.yml .cargo/credentials.toml 2>&1; cat .config/fine"),
    ).toMatch(/^(?!.*SECRET)[^]*fine\n$/);
  });

  it("stays so in a workspace, and opens nothing that is kept around it", async () => {
    const { root, run } = person({ sandbox: { hide: ["config/*.pem", ".vscode/sub/*.pem"] } });
    put(root, "config/a.pem", "SECRET");
    put(root, ".vscode/sub/a.pem", "SECRET");
    await run("mv config c2; echo evil >.vscode/sub/evil; true");
    expect(await run("cat c2/a.pem config/a.pem 2>&1; true")).not.toContain("SECRET");
    expect(existsSync(join(root, ".vscode/sub/evil"))).toBe(false);
  });
});

describe("repositories that the workspace's own holds", () => {
  const armed = (folder: string, ran: string) =>
    `git init -q --bare ${folder}; git config --file ${folder}/config core.fsmonitor 'touch ${ran}'`;

  it("run nothing that a command put there: a submodule's, however deep, behind a link, with a pipe for its settings", async () => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    git(root, "init", "-q", "--bare", ".git/modules/old");
    git(root, "config", "--file", join(root, ".git/modules/old/config"), "alias.mine", "!true");
    const ran = join(place.base, "ran");
    const deep = ".git/modules/a/b/c/d/e/f/sub";
    const text = await run(
      [
        armed(".git/modules/sub", ran),
        `${armed(deep, ran)}; rm ${deep}/HEAD; ln -s refs/heads/main ${deep}/HEAD`,
        `git init -q --bare .git/modules/sub/modules/in; echo evil >.git/modules/sub/modules/in/hooks/post-checkout`,
        `${armed("mine", ran)}; ln -s ../../mine .git/modules/link`,
        "git init -q --bare .git/modules/pipe; rm .git/modules/pipe/config; mkfifo .git/modules/pipe/config",
        "git init -q --bare .git/modules/plain",
      ].join("; "),
    );
    const modules = join(root, ".git/modules");
    for (const name of ["sub/config", "a/b/c/d/e/f/sub/config", "sub/modules/in/hooks", "link", "pipe/config"]) {
      expect(text, name).toContain(`${join(modules, name)} was renamed`);
      expect(existsSync(join(modules, name)), name).toBe(false);
    }
    expect(text.match(/set-aside/g)).toHaveLength(5);
    for (const name of ["plain", "old"]) expect(existsSync(join(modules, name, "config")), name).toBe(true);
  });

  it("lead a linked work tree nowhere else, and give it no settings that run something", async () => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    git(root, "commit", "-q", "--allow-empty", "-m", "one");
    git(root, "config", "extensions.worktreeConfig", "true");
    for (const name of ["one", "two"]) git(root, "worktree", "add", "-q", join(place.userHome, name));
    const ran = join(place.base, "ran");
    const text = await run(
      `${armed("mine", ran)}; echo ../../../mine >.git/worktrees/one/commondir; git worktree add -q three; git worktree add -q four; git -C three config --worktree core.fsmonitor 'touch ${ran}'; true`,
    );
    for (const name of ["one/commondir", "three/config.worktree"])
      expect(text, name).toContain(`${join(root, ".git/worktrees", name)} was renamed`);
    expect(text.match(/set-aside/g)).toHaveLength(2);
    for (const folder of [join(place.userHome, "two"), join(root, "four")]) expect(git(folder, "log", "--format=%s")).toBe("one\n");
    for (const folder of [join(place.userHome, "one"), join(root, "three")])
      try {
        git(folder, "status");
      } catch {
        // A work tree that is none any more is as good.
      }
    expect(existsSync(ran)).toBe(false);
  });
});

describe("what git goes on with", () => {
  const rebasing = (folder: string, ...options: string[]) => {
    git(folder, "init", "-q", "-b", "main");
    const commit = (text: string) => {
      put(folder, "f", text);
      git(folder, "add", "f");
      git(folder, "commit", "-q", "-m", text);
    };
    commit("a");
    git(folder, "checkout", "-q", "-b", "other");
    commit("b");
    git(folder, "checkout", "-q", "main");
    commit("c");
    try {
      git(folder, "rebase", "-q", ...options, "other");
    } catch {
      // It waits for whoever resolves the conflict.
    }
  };
  const goOn = (folder: string) => {
    put(folder, "f", "d");
    git(folder, "add", "f");
    try {
      git(folder, "-c", "core.editor=true", "rebase", "--continue");
    } catch {
      // It does what is left of it, or nothing.
    }
  };
  const todo = ".git/rebase-merge/git-rebase-todo";

  it("runs no program that a command put there: in a rebase, for its strategy, in a work tree", async () => {
    const { place, root, run } = person();
    const ran = join(place.base, "ran");
    rebasing(root, "--exec", "echo mine");
    put(root, "git-merge-../evil", `#!/bin/sh\ntouch ${ran}\n`);
    git(root, "worktree", "add", "-q", "--detach", "tree", "other");
    const evil = `exec touch ${ran}`;
    const text = await run(
      [
        "chmod +x git-merge-../evil; echo ../evil >.git/rebase-merge/strategy",
        `printf '\\n \\tx touch ${ran}\\n' >>${todo}`,
        `mkdir .git/worktrees/tree/rebase-merge; echo '${evil}' >.git/worktrees/tree/rebase-merge/git-rebase-todo`,
        "mkdir .git/sequencer elsewhere; printf '[options]\\n strategy = ../evil\\n' >.git/sequencer/opts; ln -s ../elsewhere .git/rebase-apply",
        "mkdir .git/remotes; echo 'URL: ../evil.git' >.git/remotes/origin",
      ].join("; "),
    );
    const places = ["rebase-merge/strategy", "rebase-merge/git-rebase-todo", "worktrees/tree/rebase-merge/git-rebase-todo"];
    for (const name of [...places, "sequencer/opts", "rebase-apply", "remotes/origin"]) {
      expect(text, name).toContain(`${join(root, ".git", name)} was renamed`);
      expect(existsSync(join(root, ".git", name)), name).toBe(false);
    }
    goOn(root);
    expect(existsSync(ran)).toBe(false);
  });

  it("is left to a command that goes on with it itself, and to the owner what the owner ordered", async () => {
    const { root, run } = person();
    rebasing(root, "--exec", "touch mine");
    const as = "git -c core.editor=true -c user.name=n -c user.email=e@x";
    expect(await run(`${as} rebase --edit-todo; echo 'break' >>${todo}; cat ${todo}`)).toMatch(/^exec touch mine\n(?:.*\n)*break\n$/);
    goOn(root);
    expect(existsSync(join(root, "mine"))).toBe(true);
    const text = await run(`${as} rebase --continue; ${as} rebase -q other~1 --exec 'touch theirs'; ${as} rebase -q -i HEAD~1; ls; cat f`);
    expect(text).toMatch(/\ntheirs\nd$/);
  });
});

describe("what is kept, but replaced while a command runs", () => {
  it("names no program that it didn't name before; what its owner changed stays", async () => {
    const { place, root, processes } = person();
    git(root, "init", "-q");
    git(root, "config", "alias.mine", "!true");
    const config = join(root, ".git/config");
    const ran = join(place.base, "ran");
    const until = (line: string) => `echo up; until ${line}; do sleep 0.02; done 2>/dev/null`;
    const confinement = { mode: "workspace-write" as const };
    const first = await processes.start(specFor(place, until("grep -q late .git/config"), { confinement }));
    await untilOutput(processes, first.ref, "up");
    git(root, "config", "user.email", "late");
    const { text } = await resultOf(processes, first.ref, await first.ended);
    expect(text).toBe("up\n");
    // What is written in the moment of the change may go to the file that just went.
    const evil = until(`printf '[core]\\n\\tfsmonitor = touch ${ran}\\n' >>.git/config && grep -q fsmonitor .git/config`);
    const second = await processes.start(specFor(place, evil, { confinement }));
    await untilOutput(processes, second.ref, "up");
    git(root, "config", "user.email", "later");
    expect((await resultOf(processes, second.ref, await second.ended)).text).toContain("set-aside");
    git(root, "status");
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(config)).toBe(false);
  });

  it("is no other link, where it is one", async () => {
    const { place, root, run } = person();
    git(root, "init", "-q");
    renameSync(join(root, ".git"), join(root, "gitdata"));
    symlinkSync("gitdata", join(root, ".git"));
    mkdirSync(join(root, "settings"));
    symlinkSync("settings", join(root, ".vscode"));
    const evil = `cp -r gitdata mine; git config --file mine/config core.fsmonitor 'touch ${place.base}/ran'`;
    const text = await run(
      `${evil}; rm .git; ln -s mine .git; rm .vscode; mkdir .vscode; echo evil >.vscode/tasks.json; echo e >settings/x`,
    );
    expect(text.match(/set-aside/g)).toHaveLength(2);
    git(place.userHome, "-C", "project", "init", "-q");
    git(root, "status");
    for (const path of [join(place.base, "ran"), join(root, ".vscode"), join(root, "settings/x")])
      expect(existsSync(path), path).toBe(false);
  });
});

describe("what is hidden", () => {
  it("is what a pattern means, however it is written: a link's target, a folder with all in it, from the root", async () => {
    const { root, run } = person({ sandbox: { hide: [".env", "secrets", "keys/", "./top.pem"] } });
    const files = [".env.development", "secrets/a", "deep/secrets/b/c", "keys/d", "top.pem"];
    for (const name of files) put(root, name, "SECRET");
    put(root, "deep/top.pem", "shown");
    symlinkSync(".env.development", join(root, ".env"));
    const text = await run(`cat .env ${files.join(" ")} 2>/dev/null; mv deep d; mv keys k; cat deep/top.pem`);
    expect(text).toMatch(/^(?!.*SECRET)[^]*shown$/);
    expect(await run("cat d/secrets/b/c k/d 2>&1; true")).not.toContain("SECRET");
  });

  it("is never only some of it: a tree too large to look through is an error", () => {
    const { root } = person();
    for (const name of ["a", "b/.env", "c"]) put(root, name, "x");
    expect(secretFiles(root, [".env"], 4)).toEqual([join(root, "b/.env")]);
    expect(() => secretFiles(root, [".env"], 3)).toThrow(expect.objectContaining({ code: "workspace_invalid" }));
  });

  it("lies where a variable says, and in settings that hold a credential", async () => {
    const moved = ["kube/one", "kube/two", "xdg/gh/hosts.yml", "docker/config.json", "cargo/credentials.toml", "aws"];
    const { place, run } = person({
      environment: (home) => ({
        KUBECONFIG: `${home}/moved/kube/one:${home}/moved/kube/two`,
        XDG_CONFIG_HOME: `${home}/moved/xdg`,
        DOCKER_CONFIG: `${home}/moved/docker`,
        CARGO_HOME: `${home}/moved/cargo`,
        AWS_SHARED_CREDENTIALS_FILE: `${home}/moved/aws`,
        GNUPGHOME: home,
      }),
    });
    for (const name of moved) put(place.userHome, join("moved", name), "SECRET");
    put(place.userHome, "moved/cargo/config.toml", "shown 1\n");
    put(place.userHome, ".m2/settings.xml", "<password>SECRET</password>");
    put(place.userHome, ".config/pip/pip.conf", "index-url = https://me:SECRET@example.org\n");
    put(place.userHome, ".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g shown 2\n");
    put(place.userHome, ".bash_history", "SECRET");
    const paths = [
      ...moved.map((name) => join(place.userHome, "moved", name)),
      "~/.m2/settings.xml",
      "~/.config/pip/pip.conf",
      "~/.bash_history",
    ];
    const text = await run(`cat ${paths.join(" ")} 2>/dev/null; cat ${place.userHome}/moved/cargo/config.toml ~/.gradle/gradle.properties`);
    expect(text).toBe("shown 1\norg.gradle.jvmargs=-Xmx2g shown 2\n");
  });
});
