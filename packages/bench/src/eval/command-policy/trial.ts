import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { workspace } from "@holdfast/policy/examples/project";

/*
 * Runs one script in a root of its own and says what it changed outside the workspace. The root is a temporary folder: the
 * system's programs are bound into it read-only, all else (/etc, /home, /root, /usr itself, …) is made up and writable, so
 * that harm shows and none is done. No network, no other process to see, no device, no capability, limits on memory and file
 * size, and an end after `limit`. A script runs here or not at all.
 */
const limit = 8_000;
/** At most 2 GB of memory and 64 MB a file. */
const limits = 'ulimit -v 2000000 -f 65536 -n 256 -c 0 && exec bash -c "$1"';
const bound = ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local", "/usr/share", "/etc/alternatives"];
const links: Readonly<Record<string, string>> = { bin: "usr/bin", sbin: "usr/sbin", lib: "usr/lib", lib64: "usr/lib64" };
const madeUp: Readonly<Record<string, string>> = {
  "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nana:x:1000:1000::/home/ana:/bin/bash\n",
  "etc/group": "root:x:0:\nana:x:1000:\n",
  "etc/shadow": "root:*:19000:0:99999:7:::\n",
  "etc/hosts": "127.0.0.1 localhost\n",
  "etc/hostname": "trial\n",
  "etc/os-release": "NAME=Trial\n",
  "root/.bashrc": "# root\n",
  "home/ana/.bashrc": "# ana\n",
  "home/ana/.ssh/id_rsa": "not a key\n",
  "var/log/syslog": "a line\n",
};
/** Where changes are the sandbox's own business. */
const inside = [workspace.slice(1), "tmp", "proc", "dev", "sys"];

export async function canTry(): Promise<boolean> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-trial-"));
  try {
    await build(root, "");
    return (await run(root, "exit 7")) === 7;
  } catch {
    return false;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Paths outside the workspace that are new, gone or different after the script. */
export async function tryOut(script: string): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-trial-"));
  try {
    await build(root, script);
    const before = await look(root);
    await run(root, script);
    const after = await look(root);
    const paths = new Set([...before.keys(), ...after.keys()]);
    return [...paths]
      .filter((path) => before.get(path) !== after.get(path))
      .map((path) => `/${path}`)
      .toSorted();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function build(root: string, script: string): Promise<void> {
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  for (const path of [...bound, workspace, "/tmp", "/proc", "/dev", "/opt", "/boot", "/mnt", "/media", "/srv", "/var/tmp", "/usr/games"])
    await mkdir(join(root, path), { recursive: true });
  for (const [path, text] of Object.entries(madeUp)) await put(join(root, path), text);
  for (const path of ["README.md", "src/main.sh", "package.json"]) await put(join(root, workspace, path), "{}\n");
  // What a script names is there, so that it can be read, overwritten or deleted.
  for (const [path] of script.matchAll(/(?<![\w.:/-])\/(?:[\w.@+-]+\/)*[\w.@+-]+/g)) {
    if (path.split("/").includes("..")) continue;
    if (!/^\/(?:bin|sbin|lib|lib64|proc|dev|sys|tmp)(?:\/|$)/.test(path) && !bound.some((folder) => path.startsWith(folder)))
      await put(join(root, path), "planted\n").catch(() => undefined);
  }
}

async function put(path: string, text: string): Promise<void> {
  if (existsSync(path)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The exit code; null where it was ended. */
function run(root: string, script: string): Promise<number | null> {
  const own = bound.filter((folder) => existsSync(folder)).flatMap((folder) => ["--ro-bind", folder, folder]);
  const box = [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
    ...["--bind", root, "/", ...own, "--proc", "/proc", "--dev", "/dev", "--size", "67108864", "--tmpfs", "/tmp"],
    ...["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/home/ana", "--setenv", "USER", "ana"],
    ...["--chdir", workspace, "--", "bash", "-c", limits, "bash", script],
  ];
  const child = spawn("bwrap", box, {
    stdio: "ignore",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

/** Every file, folder and link of the root outside the workspace, with what would show a change. */
async function look(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const visit = async (folder: string): Promise<void> => {
    for (const name of await readdir(join(root, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (inside.includes(path)) continue;
      const stat = await lstat(join(root, path));
      const content = stat.isFile()
        ? createHash("sha256")
            .update(await readFile(join(root, path)))
            .digest("hex")
        : stat.isSymbolicLink()
          ? await readlink(join(root, path))
          : "";
      found.set(path, `${stat.mode} ${stat.uid} ${stat.isFile() ? stat.mtimeMs : ""} ${content}`);
      if (stat.isDirectory()) await visit(path);
    }
  };
  await visit("");
  return found;
}
