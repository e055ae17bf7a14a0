import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Confinement } from "@holdfast/runtime/ports/processes";
import type { KnownLinks } from "./gitlinks.ts";
import { isFolder, maskedPaths } from "./masks.ts";
import { contains, mountArguments } from "./mounts.ts";
import type { Mount } from "./mounts.ts";
import { protectionOf } from "./protected.ts";

export interface ViewInput {
  readonly confinement: Confinement;
  readonly holdfastHome: string;
  readonly userHome: string;
  /** Roots of the workspace besides the confinement's own: sockets in them stay in sight. */
  readonly workspaceRoots: readonly string[];
  readonly tmp: string;
  readonly cache: string;
  readonly cacheMounts: readonly Mount[];
  /** An empty file. */
  readonly blank: string;
  readonly path: string;
  /** Folders of our own programs: where they lie in the workspace, a command must not change what we run outside. */
  readonly ownFolders: readonly string[];
  /** Folders in our home that commands may see: our programs for them. */
  readonly entries?: readonly string[];
  /** Folders of what those need. */
  readonly programs?: readonly string[];
  /** Repositories in a root that its index names. */
  readonly links: KnownLinks;
}

/** What a sandboxed command sees of the file system, as bubblewrap's arguments; and what must not appear while it runs. */
export function viewOf(input: ViewInput): { readonly args: string[]; readonly absent: readonly string[] } {
  const { confinement } = input;
  const isWritable = confinement.mode === "workspace-write";
  const roots = confinement.roots.filter(existsSync).map((path) => realpathSync(path));
  const binds = (confinement.binds ?? []).map((one) => ({ ...one, to: existsSync(one.to) ? realpathSync(one.to) : one.to }));
  const replacedRoots = new Set(binds.map((one) => one.to));
  const own = roots.filter((root) => !replacedRoots.has(root));
  const protections = isWritable ? own.map((root) => ({ root, ...protectionOf(root, input.links[root] ?? [], input.userHome) })) : [];
  const approved = confinement.scope.writable ?? [];
  const keep = [...roots, ...input.workspaceRoots, input.tmp];
  const masked = maskedPaths(input.userHome, input.holdfastHome, keep);
  const kept = protections.flatMap(({ root, readOnly }) => {
    // What is hidden stays so: in a home folder, `.claude` and its like are a project's places and the user's.
    const paths = [
      ...readOnly.filter((path) => !masked.some((each) => contains(each, path))),
      ...input.ownFolders.filter((path) => contains(root, path)),
    ];
    return [
      ...paths.flatMap((path) => foldersBetween(root, path)).map((path) => bind(path, path, true)),
      ...paths.map((path) => bind(path, path, false)),
    ];
  });
  const mounts: Mount[] = [
    bind(input.tmp, "/tmp", true),
    { type: "hide", to: "/run", isFolder: true, blank: input.blank },
    ...kernelSettings().map((path) => bind(path, path, false)),
    ...systemInRun.filter(existsSync).map((path) => bind(path, path, false)),
    ...hiddenByTmp([input.userHome, ...(input.programs ?? [])], input.path).map((path) => bind(path, path, false)),
    ...masked.map((path): Mount => ({
      type: "hide",
      to: path,
      isFolder: isFolder(path),
      blank: input.blank,
    })),
    bind(input.cache, input.cache, true),
    ...(input.entries ?? []).map((path) => bind(path, path, false)),
    ...input.cacheMounts,
    ...own.map((root) => bind(root, root, isWritable)),
    ...protections.flatMap(({ writable, pinned }) => [...writable, ...pinned]).map((path) => bind(path, path, true)),
    ...kept,
    ...binds.map((one) => bind(one.from, one.to, one.writable)),
    // What an approval names exactly wins over everything else.
    ...approved.filter(existsSync).map((path) => bind(realpathSync(path), realpathSync(path), true)),
  ];
  return {
    args: ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...mountArguments(mounts, ["/tmp"])],
    absent: protections
      .flatMap(({ absent }) => absent)
      .filter((path) => !approved.some((each) => contains(path, each) || contains(each, path))),
  };
}

/** /run is full of sockets that lead out of the sandbox; these are files that programs need. */
const systemInRun = [
  "/run/systemd/resolve/stub-resolv.conf",
  "/run/systemd/resolve/resolv.conf",
  "/run/current-system",
  "/run/opengl-driver",
];

let knownSettings: readonly string[] | undefined;

/**
 * What /proc holds besides processes. The kernel lets user 0 write there without any capability (a `core_pattern` that
 * starts a program, for one), in a user namespace too, and bubblewrap's own cover leaves out what it takes for read-only.
 */
function kernelSettings(): readonly string[] {
  return (knownSettings ??= findSettings());
}

function findSettings(): string[] {
  const entries = readdirSync("/proc").filter((name) => !/^\d+$/.test(name));
  return entries
    .map((name) => join("/proc", name))
    .filter((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat !== undefined && (stat.isDirectory() || (stat.isFile() && (stat.mode & 0o222) !== 0));
    });
}

/** Mounted on themselves, the folders on the way to a protected place can't be moved away together with it. */
function foldersBetween(root: string, path: string): string[] {
  const parts = contains(root, path) ? relative(root, path).split(sep).slice(0, -1) : [];
  return parts.map((_, index) => join(root, ...parts.slice(0, index + 1)));
}

/** What the private /tmp would hide although commands need it: a home folder and programs there, also those on PATH. */
function hiddenByTmp(needed: readonly string[], path: string): string[] {
  const programs = path.split(":").map((entry) => (basename(entry) === ".bin" || basename(entry) === "bin" ? dirname(entry) : entry));
  return [...needed, ...programs]
    .filter((entry) => contains("/tmp", entry) && entry !== "/tmp" && existsSync(entry))
    .map((entry) => realpathSync(entry));
}

function bind(from: string, to: string, writable: boolean): Mount {
  return { type: "bind", from, to, writable };
}

/** The empty file shown in place of a hidden one. */
export function blankFile(home: string): string {
  return join(home, "commands", "blank");
}
