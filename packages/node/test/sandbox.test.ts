import { execFileSync } from "node:child_process";
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { createProcesses } from "@holdfast/node/processes/index";
import { makePlace, ownEnvironment, processesAt, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";
import type { Place } from "./processes-fixture.ts";

const servers: Server[] = [];

/** A user's home with credentials, and a repository in it. */
function furnish(place: Place): void {
  const files = {
    ".ssh/id_ed25519": "SECRET",
    ".aws/credentials": "SECRET",
    ".netrc": "SECRET",
    ".npmrc": "registry=https://r.example\n//r.example/:_authToken=SECRET",
    ".codex/auth.json": "SECRET",
    ".config/gh/hosts.yml": "SECRET",
    ".gitconfig": "[user]\n\tname = Name\n\temail = name@example.org\n",
    ".holdfast/approvals.json": "SECRET",
    "outside.txt": "outside",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.userHome, name)), { recursive: true });
    writeFileSync(join(place.userHome, name), text);
  }
  git(place.workspace, "init", "-q");
  writeFileSync(join(place.workspace, "a.txt"), "a\n");
}

function git(folder: string, ...args: string[]): string {
  return execFileSync("git", ["-C", folder, "-c", "user.name=n", "-c", "user.email=e@example.org", ...args], { encoding: "utf8" });
}

describe.each(["/tmp", "/var/tmp"])("a sandboxed command, workspace and home below %s", (parent) => {
  const place = makePlace(parent);
  let processes: Processes;
  const run = (command: string, options: Parameters<typeof specFor>[2] = {}) =>
    runToEnd(processes, specFor(place, command, { ...options, confinement: { mode: "workspace-write", ...options.confinement } }));
  beforeAll(() => {
    furnish(place);
    processes = processesAt(place, { environment: { ...ownEnvironment, HOME: place.userHome } });
  });
  afterAll(async () => {
    await processes.endSession("session", { forget: true });
    for (const server of servers.splice(0)) server.close();
    rmSync(place.base, { recursive: true, force: true });
  });

  it("can be had on this machine", async () => {
    expect(await processes.sandboxProblem()).toBe(null);
  });

  it("writes in the workspace and its own temporary folder, and nowhere else", async () => {
    const targets = [place.userHome, place.base, "/etc", "/usr", "/", "/var/tmp", "/opt"];
    const { text } = await run(
      `echo in > in.txt && echo t > /tmp/t && cat in.txt /tmp/t; for d in ${targets.join(" ")}; do touch $d/written 2>/dev/null && echo wrote $d; done; echo x >> ${place.userHome}/outside.txt; true`,
    );
    expect(
      text
        .split("\n")
        .filter((line) => line.startsWith("wrote"))
        .filter((line) => line !== `wrote ${place.base}`),
    ).toEqual([]);
    expect(text).toMatch(/^in\nt\n/);
    expect(readFileSync(join(place.workspace, "in.txt"), "utf8")).toBe("in\n");
    expect(readFileSync(join(place.userHome, "outside.txt"), "utf8")).toBe("outside");
    for (const target of targets) expect(existsSync(join(target, "written"))).toBe(false);
    expect(existsSync("/tmp/t")).toBe(false);
  });

  // Found by attack: to user 0 /proc/sys stays writable without any capability, and a core_pattern can name a program.
  it("changes no setting of the kernel", async () => {
    const { text } = await run(
      "find /proc -path '/proc/[0-9]*' -prune -o ! -type l -writable -print 2>/dev/null; echo 5 >/proc/self/oom_score_adj && echo own",
    );
    expect(text).toBe("own\n");
  });

  it("writes nothing but there in read-only mode, and what an approval adds exactly", async () => {
    const other = join(place.base, "other");
    mkdirSync(other, { recursive: true });
    const plain = await run("touch no 2>/dev/null || echo refused; touch /tmp/yes && echo tmp", { confinement: { mode: "read-only" } });
    expect(plain.text).toBe("refused\ntmp\n");
    const wider = await run(`touch no 2>/dev/null || echo refused; touch ${other}/yes && echo other`, {
      confinement: { mode: "read-only", scope: { writable: [other] } },
    });
    expect(wider.text).toBe("refused\nother\n");
    expect(existsSync(join(other, "yes"))).toBe(true);
    const free = await run(`touch ${place.base}/free && echo free`, { confinement: { scope: { unsandboxed: true } } });
    expect(free.text).toBe("free\n");
    expect(existsSync(join(place.base, "free"))).toBe(true);
  });

  it("sees no credential, no record of ours, and no link's way to them (B16)", async () => {
    symlinkSync(place.home, join(place.workspace, "state"));
    symlinkSync(join(place.userHome, ".ssh"), join(place.workspace, "keys"));
    const names = [
      ".ssh/id_ed25519",
      ".aws/credentials",
      ".netrc",
      ".npmrc",
      ".codex/auth.json",
      ".config/gh/hosts.yml",
      ".holdfast/approvals.json",
    ];
    const { text } = await run(
      `cd ~; for f in ${names.join(" ")} project/state/approvals.json project/keys/id_ed25519; do cat $f; done 2>/dev/null; grep -rs SECRET ~ | head; touch .ssh/new .holdfast/new project/state/new; cat .gitconfig`,
    );
    expect(text).not.toContain("SECRET");
    expect(text).toContain("name = Name");
    for (const name of [".ssh/new", ".holdfast/new"]) expect(existsSync(join(place.userHome, name))).toBe(false);
    for (const name of ["state", "keys"]) rmSync(join(place.workspace, name));
  });

  it("does not reach out through links of the workspace (B12)", async () => {
    const victim = join(place.base, "victim");
    mkdirSync(join(victim, "folder"), { recursive: true });
    writeFileSync(join(victim, "n.md"), "before");
    symlinkSync(join(victim, "n.md"), join(place.workspace, "n.md"));
    symlinkSync(join(victim, "folder"), join(place.workspace, "sub"));
    await run("echo after > n.md; echo x > sub/x; mv n.md moved; rm -rf sub/; ln -sf /etc/hostname h; echo x > h");
    expect(readFileSync(join(victim, "n.md"), "utf8")).toBe("before");
    expect(existsSync(join(victim, "folder/x"))).toBe(false);
    for (const name of ["n.md", "moved", "sub", "h"]) rmSync(join(place.workspace, name), { force: true });
  });

  it("commits with git, but plants nothing that git would run later outside (B08)", async () => {
    const commit = await run(
      "git add -A && git commit -qm first && git log --oneline | wc -l && git checkout -q -b side && git status --short",
    );
    expect(commit).toMatchObject({ end: { type: "exited", exitCode: 0 }, text: expect.stringMatching(/1\n/) });
    const config = readFileSync(join(place.workspace, ".git/config"), "utf8");
    const { text } = await run(`
      echo evil > .git/hooks/pre-commit; mkdir h; echo evil > h/pre-commit; mv .git/hooks .git/old; mv h .git/hooks; ln -sfn $PWD/h .git/hooks
      git config core.hooksPath h; git config core.fsmonitor ./evil; echo '[core]' >> .git/config; rm -f .git/config; mv .git/config .git/c2; cp .git/c .git/config
      mv .git .git2; rm -rf .git/hooks; mkdir -p evil; echo evil > .git/commondir; echo evil > .git/config.worktree`);
    expect(readFileSync(join(place.workspace, ".git/config"), "utf8")).toBe(config);
    expect(existsSync(join(place.workspace, ".git/hooks/pre-commit"))).toBe(false);
    for (const name of [".git/commondir", ".git/config.worktree", ".git2"]) expect(existsSync(join(place.workspace, name))).toBe(false);
    expect(text).toContain("moved");
    expect(git(place.workspace, "rev-parse", "--abbrev-ref", "HEAD")).toBe("side\n");
  });

  it("leaves editors' and other agents' settings, and hooks kept in the workspace, as they are", async () => {
    const tasks = join(place.workspace, ".vscode/tasks.json");
    mkdirSync(dirname(tasks), { recursive: true });
    writeFileSync(tasks, "{}");
    mkdirSync(join(place.workspace, "githooks"), { recursive: true });
    git(place.workspace, "config", "core.hooksPath", "githooks");
    await run("echo evil > .vscode/tasks.json; rm -rf .vscode; mv .vscode v; echo evil > githooks/pre-push; true");
    expect(readFileSync(tasks, "utf8")).toBe("{}");
    expect(existsSync(join(place.workspace, "githooks/pre-push"))).toBe(false);
    git(place.workspace, "config", "--unset", "core.hooksPath");
  });

  it("leaves what git's configuration includes, and makes nothing that Holdfast takes from a project, but where a person approved it", async () => {
    const included = join(place.workspace, "team/gitconfig");
    mkdirSync(dirname(included), { recursive: true });
    writeFileSync(included, "[core]\n\thooksPath = team/hooks\n");
    mkdirSync(join(place.workspace, "team/hooks"));
    git(place.workspace, "config", "include.path", "../team/gitconfig");
    const plant = "mkdir .holdfast; echo evil > .holdfast/config.toml; echo {} > .mcp.json";
    const { text } = await run(`echo evil >> team/gitconfig; touch team/hooks/pre-push; mv team t; ${plant}; true`);
    expect(readFileSync(included, "utf8")).toBe("[core]\n\thooksPath = team/hooks\n");
    expect(text).toContain(`moved ${place.workspace}/.mcp.json out of the workspace`);
    const made = ["team/hooks/pre-push", ".holdfast", ".mcp.json"].map((name) => existsSync(join(place.workspace, name)));
    expect(made).toEqual([false, false, false]);
    await run(plant, { confinement: { scope: { writable: [join(place.workspace, ".holdfast/config.toml")] } } });
    expect(readFileSync(join(place.workspace, ".holdfast/config.toml"), "utf8")).toBe("evil\n");
    expect(existsSync(join(place.workspace, ".mcp.json"))).toBe(false);
    // An approval of the whole folder, or of one around it, is none of what is protected in it.
    for (const wide of [place.workspace, place.base]) {
      await run("echo evil > .envrc; echo evil > .holdfast/config.toml; echo fine > fine.txt; true", {
        confinement: { scope: { writable: [wide] } },
      });
      expect(existsSync(join(place.workspace, ".envrc"))).toBe(false);
      rmSync(join(place.workspace, "fine.txt"));
    }
    writeFileSync(join(place.workspace, ".mcp.json"), "{}");
    await run("echo evil > .mcp.json; rm .mcp.json; mv .mcp.json m; rm -rf .holdfast; true");
    expect(readFileSync(join(place.workspace, ".mcp.json"), "utf8")).toBe("{}");
    expect(existsSync(join(place.workspace, ".holdfast/config.toml"))).toBe(true);
    git(place.workspace, "config", "--unset", "include.path");
    for (const name of [".holdfast", ".mcp.json", "team"]) rmSync(join(place.workspace, name), { recursive: true });
  });

  it("can't move a protected place away with the folders around it", async () => {
    mkdirSync(join(place.workspace, "tools/hooks"), { recursive: true });
    git(place.workspace, "config", "core.hooksPath", "tools/hooks");
    await run("mv tools t; mkdir -p tools/hooks; echo evil > tools/hooks/pre-push; true");
    expect(existsSync(join(place.workspace, "tools/hooks/pre-push"))).toBe(false);
    git(place.workspace, "config", "--unset", "core.hooksPath");
  });

  it("never makes the wrapper move what a link leads to, but the link", async () => {
    const other = join(place.base, "elsewhere");
    mkdirSync(other);
    for (const name of ["config", "hook"]) writeFileSync(join(other, name), "kept");
    git(place.workspace, "config", "core.hooksPath", "deep/er/hook");
    mkdirSync(join(place.workspace, ".git/modules/m"), { recursive: true });
    writeFileSync(join(place.workspace, ".git/modules/m/HEAD"), "ref: refs/heads/main\n");
    const { text } = await run(`mkdir deep; ln -s ${other} deep/er; rm -r .git/modules; mkdir .git/modules; ln -s ${other} .git/modules/m`);
    for (const name of ["config", "hook"]) expect(readFileSync(join(other, name), "utf8")).toBe("kept");
    expect(text).toContain("moved");
    expect(existsSync(join(place.workspace, "deep/er"))).toBe(false);
    expect(existsSync(join(place.workspace, ".git/modules/m"))).toBe(false);
    git(place.workspace, "config", "--unset", "core.hooksPath");
  });

  it("leaves neither configuration nor hooks where it makes a repository of a plain folder", async () => {
    const plain = join(place.base, "plain");
    mkdirSync(plain);
    const inPlain = { cwd: plain, confinement: { roots: [plain] } };
    const author = "-c user.name=n -c user.email=e@example.org";
    await run(`git init -q && git ${author} commit -qm one --allow-empty && git config core.fsmonitor "touch ${plain}/ran"`, inPlain);
    expect(git(plain, "log", "--format=%s")).toBe("one\n");
    git(plain, "status");
    expect(existsSync(join(plain, "ran"))).toBe(false);
    const made = join(place.base, "made");
    mkdirSync(made);
    await run("git init -q --separate-git-dir=elsewhere", { cwd: made, confinement: { roots: [made] } });
    expect(existsSync(join(made, ".git"))).toBe(false);
  });

  it("in a home folder changes nothing that the next shell or login runs", async () => {
    const user = join(place.base, "person");
    mkdirSync(join(user, ".ssh"), { recursive: true });
    writeFileSync(join(user, ".ssh/id"), "SECRET");
    mkdirSync(join(user, ".claude"));
    writeFileSync(join(user, ".claude/key"), "SECRET");
    writeFileSync(join(user, ".bashrc"), "kept");
    const atHome = createProcesses({ home: join(user, ".holdfast"), workspaceRoots: [user], userHome: user });
    const write =
      "echo evil >>.bashrc; echo evil >.profile; mkdir -p .config .local/bin; ln -s /tmp .config/autostart; echo evil >.local/bin/git";
    const read = "cat .ssh/id .claude/key .holdfast/commands/session/boot; rm -rf .ssh; touch .ssh/authorized_keys; echo ok >file";
    const confinement = { mode: "workspace-write" as const, roots: [user] };
    const { text } = await runToEnd(atHome, specFor(place, `${write}; ${read}`, { cwd: user, confinement }));
    await atHome.endSession("session", { forget: true });
    expect(text).not.toContain("SECRET");
    expect(text.match(/^cat: .*No such file/gm)).toHaveLength(3);
    expect(readFileSync(join(user, ".bashrc"), "utf8")).toBe("kept");
    for (const path of [".profile", ".config/autostart", ".local/bin", ".ssh/authorized_keys"])
      expect(existsSync(join(user, path)), path).toBe(false);
    expect(readFileSync(join(user, "file"), "utf8")).toBe("ok\n");
  });

  it("can't have git run what it wrote into a repository that the index names", async () => {
    const top = join(place.base, "top");
    mkdirSync(top);
    git(top, "init", "-q");
    git(top, "init", "-q", "old");
    git(join(top, "old"), "commit", "-q", "--allow-empty", "-m", "one");
    git(top, "add", "old");
    git(top, "commit", "-q", "-m", "one");
    const inTop = { cwd: top, confinement: { roots: [top] } };
    const ran = join(place.base, "ran-by-git");
    const evil = `git config core.fsmonitor 'touch ${ran}; false'`;
    await run(`cd old && ${evil}; mv .git g; echo 'gitdir: ../evil' >.git; cd .. && mv old o; true`, inTop);
    const author = "-c user.name=n -c user.email=e@example.org";
    const { text } = await run(
      `git init -q new && cd new && git ${author} commit -q --allow-empty -m x && ${evil} && cd .. && git init -q evil && cp -r new/.git/. evil/ && mkdir file && echo 'gitdir: ../evil' >file/.git && git add new file`,
      inTop,
    );
    git(top, "status");
    git(top, "diff");
    expect(existsSync(ran)).toBe(false);
    expect(text).toContain("set-aside");
    await run(`cd new && echo '[core]' >.git/config && ${evil}; rm -rf ../file/.git; echo 'gitdir: ../evil' >../file/.git`, inTop);
    git(top, "status");
    expect(existsSync(ran)).toBe(false);
    const nested = await run(
      `cd old && git init -q in && cd in && git ${author} commit -q --allow-empty -m x && ${evil} && cd .. && git add in`,
      inTop,
    );
    git(top, "status");
    expect(existsSync(ran)).toBe(false);
    expect(nested.text).toContain("set-aside");
    expect(git(join(top, "old"), "log", "--format=%s")).toBe("one\n");
  });

  it("finds none of our programs in the workspace, nor changes those that lie there", async () => {
    const bin = join(place.workspace, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    const fakes = ["bash", "bwrap", "nsenter", "cat", "mv", "grep", "mkfifo", "sleep", "socat", "cp"];
    for (const name of fakes) writeFileSync(join(bin, name), `#!/bin/sh\ntouch ${place.base}/ran\n`, { mode: 0o755 });
    const scripts = join(place.workspace, "node_modules/program/sh/");
    cpSync(fileURLToPath(new URL("../sh", import.meta.url)), scripts, { recursive: true });
    const shadowed = processesAt(place, { environment: { ...ownEnvironment, PATH: `${bin}:${process.env["PATH"]}` }, scripts });
    const command = `echo "$PATH"; touch .git/commondir; echo exit >>${scripts}run.sh; mv node_modules/program node_modules/p; rm -rf node_modules/program/sh`;
    const confinement = { mode: "workspace-write" as const, network: ["example.org"] };
    const { text } = await runToEnd(shadowed, specFor(place, command, { session: "shadowed", confinement }));
    await shadowed.endSession("shadowed", { forget: true });
    expect(text).toMatch(new RegExp(`^${bin}:`));
    expect(existsSync(join(place.base, "ran"))).toBe(false);
    expect(readFileSync(join(scripts, "run.sh"), "utf8")).not.toMatch(/exit\n.*exit\n$/);
    rmSync(join(place.workspace, "node_modules"), { recursive: true });
  });

  it("commits in a linked work tree, whose repository keeps its hooks and configuration (B13)", async () => {
    git(place.workspace, "commit", "-q", "--allow-empty", "-m", "base");
    const tree = join(place.base, "tree");
    git(place.workspace, "worktree", "add", "-q", "-f", tree);
    const inTree = { cwd: tree, confinement: { roots: [tree] } };
    const { end, text } = await run("echo b > b.txt && git add b.txt && git commit -qm second && git log --oneline | wc -l", inTree);
    expect(end, text).toEqual({ type: "exited", exitCode: 0 });
    await run(
      `echo evil > ${place.workspace}/.git/hooks/pre-commit; echo '[core]' >> ${place.workspace}/.git/config; echo 'gitdir: /nowhere' > .git; touch ${place.workspace}/written`,
      inTree,
    );
    expect(existsSync(join(place.workspace, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(place.workspace, "written"))).toBe(false);
    expect(git(tree, "status", "--short")).toBe("");
    // A checkout that merely claims to belong to a repository opens nothing.
    const liar = join(place.base, "liar");
    mkdirSync(liar);
    writeFileSync(join(liar, ".git"), `gitdir: ${place.workspace}/.git\n`);
    await run(`touch ${place.workspace}/.git/written`, { cwd: liar, confinement: { roots: [liar] } });
    expect(existsSync(join(place.workspace, ".git/written"))).toBe(false);
  });

  it("sees no process but its own, and can signal none", async () => {
    const { text } = await run(
      `kill -0 ${process.pid} 2>/dev/null && echo rea""ched; ls /proc | grep -c '^[0-9]'; cat /proc/1/cmdline | tr '\\0' ' '; cat /proc/${process.pid}/environ 2>/dev/null; grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status`,
    );
    expect(text).not.toContain("reached");
    expect(text).toMatch(/^[3-9]\n\S*bash --posix -s /);
    expect(text).toMatch(/CapPrm:\t0+\nCapEff:\t0+\nNoNewPrivs:\t1\n$/);
  });

  it("can open none of the files of its wrapper, however it asks", async () => {
    const { text } = await run(
      `ls -l /proc/1/fd | sed -n 's/.*-> //p' | sed 's/[0-9]//g' | sort -u; ls /proc/1/root${place.home} 2>&1 | grep -v cache; echo x > /proc/1/fd/0; for f in /proc/1/fd/*; do [ -f $f ] && echo file $f; done; true`,
    );
    expect(text).toContain("pipe:[]");
    expect(text).not.toContain("file ");
    expect(text).not.toContain("runs");
  });

  it("connects to no socket outside, by path or by abstract name (B01)", async () => {
    const path = join(place.userHome, "agent.sock");
    const abstract = `holdfast-test-${process.pid}-${parent.length}`;
    for (const name of [path, `\0${abstract}`]) {
      const server = createServer((socket) => socket.end("REACHED"));
      servers.push(server);
      await new Promise<void>((done) => server.listen(name, done));
    }
    const probes = [`UNIX-CONNECT:${path}`, `ABSTRACT-CONNECT:${abstract}`].map((target) => `timeout 5 socat - ${target} </dev/null 2>&1`);
    const { text } = await run(`${probes.join("; ")}; ls /run; echo "[$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DOCKER_HOST]"`);
    expect(text).not.toContain("REACHED");
    expect(text).toContain("[]");
  });

  it("connects to no socket that is opened outside while it runs (B01)", async () => {
    const path = join(place.userHome, "late.sock");
    const probe = `echo up; until [ -e ${path} ]; do sleep 0.02; done; sleep 1; timeout 5 socat - UNIX-CONNECT:${path} </dev/null 2>&1; stat -c %F ${path}; true`;
    const confinement = { mode: "workspace-write" } as const;
    const running = await processes.start(specFor(place, probe, { confinement }));
    await untilOutput(processes, running.ref, "up");
    const server = createServer((socket) => socket.end("REACHED"));
    servers.push(server);
    await new Promise<void>((done) => server.listen(path, done));
    const text = await untilOutput(processes, running.ref, "special file");
    expect(text).not.toContain("REACHED");
    await running.ended;
    // One in the workspace is no way out either.
    const inside = join(place.workspace, "dev.sock");
    const other = createServer((socket) => socket.end("REACHED"));
    servers.push(other);
    await new Promise<void>((done) => other.listen(inside, done));
    expect((await run(`timeout 5 socat - UNIX-CONNECT:${inside} </dev/null 2>&1; true`)).text).not.toContain("REACHED");
    const made = { session: "with-socket" };
    await run("true", made);
    await new Promise((closed) => other.close(closed));
    await run("true", made);
    await processes.endSession("with-socket", { forget: true });
    expect(existsSync(inside)).toBe(false);
  });

  it("sees none of the workspace's files that a pattern hides, in whatever folder, by whatever name, made meanwhile too (B15)", async () => {
    const hiding = processesAt(place, { sandbox: { hide: [".env", "keys/**/*.pem"] } });
    const look = (command: string) =>
      runToEnd(hiding, specFor(place, command, { confinement: { mode: "workspace-write" }, session: "hiding" }));
    const files = [".env", "packages/app/.env", "keys/deep/a.pem"];
    for (const name of files) {
      mkdirSync(dirname(join(place.workspace, name)), { recursive: true });
      writeFileSync(join(place.workspace, name), "DATABASE_KEY");
    }
    linkSync(join(place.workspace, ".env"), join(place.workspace, "innocent"));
    symlinkSync("packages/app/.env", join(place.workspace, "link"));
    const all =
      "cat .env packages/app/.env new/.env keys/deep/a.pem innocent link 2>&1; grep -rs DATABASE_KEY . ; cp .env .git/x; cat .git/x; mv packages/app p 2>&1; cat p/.env; true";
    expect((await look(all)).text).not.toContain("DATABASE_KEY");
    mkdirSync(join(place.workspace, "new"));
    writeFileSync(join(place.workspace, "new/.env"), "DATABASE_KEY");
    const { text } = await look(`${all}; echo shown >.env.example; cat .env.example`);
    expect(text).not.toContain("DATABASE_KEY");
    expect(text).toContain("shown");
    await hiding.endSession("hiding", { forget: true });
    for (const name of [".env", "packages", "keys", "new", "innocent", "link", "p", ".env.example"])
      rmSync(join(place.workspace, name), { recursive: true, force: true });
  });

  it("opens no Unix socket at all where that is asked for, but a pair of them", async () => {
    const strict = processesAt(place, { sandbox: { unixSockets: false } });
    const pair = `'${process.execPath}' -e 'require("child_process").fork("/dev/null").on("exit", (code) => console.log("forked", code))'`;
    const { text } = await runToEnd(
      strict,
      specFor(place, `socat - UNIX-LISTEN:/tmp/own.sock 2>&1; ${pair}`, { confinement: { mode: "read-only" }, session: "strict" }),
    );
    await strict.endSession("strict", { forget: true });
    expect(text).toMatch(/Address family not supported[^]*forked 0\n$/);
  });

  it("reads the packages the user has downloaded, and changes none of them", async () => {
    const users = join(place.userHome, ".npm/_cacache");
    for (const name of ["index-v5/aa", "content-v2/bb"]) {
      mkdirSync(dirname(join(users, name)), { recursive: true });
      writeFileSync(join(users, name), "kept");
    }
    writeFileSync(join(place.workspace, "package.json"), "{}");
    const { text } = await run(
      "cd $npm_config_cache/_cacache && cat index-v5/aa content-v2/bb; echo new > index-v5/aa && cat index-v5/aa; echo $npm_config_offline; echo evil > content-v2/bb; echo evil > ~/.npm/_cacache/index-v5/aa; touch content-v2/cc",
    );
    expect(text).toMatch(/^keptkeptnew\ntrue\n(?:.*Read-only file system\n){3}$/);
    expect(readFileSync(join(users, "index-v5/aa"), "utf8")).toBe("kept");
    expect((await run("echo ${npm_config_cache##*/}", { confinement: { purpose: "check" } })).text).toBe("npm\n");
  });

  it("shows a scratch copy at the workspace's own path", async () => {
    const scratch = join(place.home, "scratch");
    mkdirSync(scratch, { recursive: true });
    writeFileSync(join(scratch, "a.txt"), "scratch\n");
    const binds = [{ from: scratch, to: place.workspace, writable: true }];
    const { text } = await run("pwd; cat a.txt; echo new > b.txt", { confinement: { binds, purpose: "check" } });
    expect(text).toBe(`${place.workspace}\nscratch\n`);
    expect(readFileSync(join(scratch, "b.txt"), "utf8")).toBe("new\n");
    expect(existsSync(join(place.workspace, "b.txt"))).toBe(false);
  });

  it("that can't be set up says so, and is not taken for the command's own failure", async () => {
    const { end, text } = await run("echo hi", {
      confinement: { binds: [{ from: join(place.base, "missing"), to: place.workspace, writable: true }] },
    });
    expect(end).toEqual({ type: "exited", exitCode: 126 });
    expect(text).toMatch(/^holdfast: the sandbox could not be set up:\n.*missing/);
  });
});
