import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Confinement } from "@holdfast/runtime/ports/processes";
import { isProtectedPath } from "@holdfast/runtime/paths/protected";
import { secretFiles } from "./secret-files.ts";
import type { KnownLinks } from "./gitlinks.ts";
import { isFolder, maskedPaths } from "./masks.ts";
import { contains, isWritableAt, mountArguments, mountsUpon } from "./mounts.ts";
import type { Mount } from "./mounts.ts";
import { defaultSandbox } from "./options.ts";
import { ownedBelow } from "./owned.ts";
import { protectionOf } from "./protected.ts";
import { lookAt, lookClosely } from "../files/missing.ts";

/** What a session's commands see of the file system, whatever command it is: made once, and shown to each. */
export interface GroundInput {
  readonly holdfastHome: string;
  readonly userHome: string;
  /** Our own environment: it may name places of credentials. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** What is shown as /tmp: a folder, or a size in bytes for one in memory. */
  readonly tmp: string | number;
  readonly cache: string;
  /** An empty file. */
  readonly blank: string;
  readonly path: string;
  /** Folders in our home that commands may see: our programs for them. */
  readonly entries?: readonly string[];
  /** Folders of what those need. */
  readonly programs?: readonly string[];
}

export interface ViewInput extends GroundInput {
  readonly confinement: Confinement;
  readonly cacheMounts: readonly Mount[];
  /** Folders of our own programs: where they lie in the workspace, a command must not change what we run outside. */
  readonly ownFolders: readonly string[];
  /** Repositories in a root that its index names. */
  readonly links: KnownLinks;
  /** What the git configuration of a root names. */
  readonly named: Readonly<Record<string, readonly string[]>>;
  /** Patterns of files in the workspace that are hidden. */
  readonly hide?: readonly string[];
  /** What stands already, where the command is shown a session's view. */
  readonly standing?: Standing;
}

/** A view that was made before: where it is, and what was mounted for it. */
export interface Standing {
  readonly path: string;
  readonly mounts: readonly Mount[];
  /** What each hidden place was, in `identityOf`. */
  readonly identities: Readonly<Record<string, string>>;
}

/** Bubblewrap's arguments for what every view begins with, at `at` instead of `/`. */
export function groundArguments(mounts: readonly Mount[], at: string): string[] {
  const dev = isDevShared || at === "" ? devices(at, shmBytes(mounts)) : [];
  return ["--ro-bind", "/", at === "" ? "/" : at, ...dev, ...mountArguments(mounts, [], at)];
}

/** Devices alone: what lies in memory there (`/dev/shm`) is capped like /tmp, and nothing else can be made. */
function devices(at: string, size: number): string[] {
  return ["--dev", `${at}/dev`, "--perms", "1777", "--size", String(size), "--tmpfs", `${at}/dev/shm`, "--remount-ro", `${at}/dev`];
}

/** An approved folder that only holds a protected place among others doesn't open it: the workspace isn't its hooks. */
function isProtectedItself(approved: string, root: string): boolean {
  return !contains(approved, root) && isProtectedPath(contains(root, approved) ? relative(root, approved) : basename(approved));
}

/** Shared memory may take as much as /tmp. */
function shmBytes(mounts: readonly Mount[]): number {
  const tmp = mounts.find(({ to }) => to === "/tmp");
  return tmp?.type === "fresh" ? tmp.size : defaultSandbox().tmpBytes;
}

/** Who isn't root gets one by a further user namespace (for devpts, bubblewrap says), which nobody could join. */
const isDevShared = process.getuid?.() === 0;

export function groundOf(input: GroundInput): Mount[] {
  return [
    typeof input.tmp === "number" ? { type: "fresh", to: "/tmp", size: input.tmp } : bind(input.tmp, "/tmp", true),
    { type: "hide", to: "/run", isFolder: true, blank: input.blank },
    ...systemInRun.filter(existsSync).map((path) => bind(path, path, false)),
    ...hiddenByTmp([input.userHome, ...(input.programs ?? [])], input.path).map((path) => bind(path, path, false)),
    ...hides(maskedPaths(input.userHome, input.holdfastHome, input.environment), input.blank),
    bind(input.cache, input.cache, true),
    ...(input.entries ?? []).map((path) => bind(path, path, false)),
  ];
}

export interface View {
  readonly args: string[];
  /** Places where nothing may appear. */
  readonly absent: readonly string[];
  /** Places that stay as they are: mounted so, or links that no mount can keep. */
  readonly kept: readonly string[];
  /** Places that are hidden. */
  readonly hidden: readonly string[];
  isWritable(real: string): boolean;
}

/** What a sandboxed command sees of the file system, as bubblewrap's arguments; and what must not appear while it runs. */
export function viewOf(input: ViewInput): View {
  const { confinement, standing } = input;
  const isWritable = confinement.mode === "workspace-write";
  const roots = confinement.roots.filter(existsSync).map((path) => realpathSync(path));
  const binds = (confinement.binds ?? []).map((one) => ({ ...one, to: existsSync(one.to) ? realpathSync(one.to) : one.to }));
  const replacedRoots = new Set(binds.map((one) => one.to));
  const own = roots.filter((root) => !replacedRoots.has(root));
  const protections = isWritable
    ? own.map((root) => protectionOf(root, input.links[root] ?? [], input.named[root] ?? [], input.userHome))
    : [];
  const approved = confinement.scope.writable ?? [];
  const secret = own.flatMap((root) => secretFiles(root, input.hide ?? []));
  const masked = [...maskedPaths(input.userHome, input.holdfastHome, input.environment), ...secret];
  const outside = protections.flatMap(({ writable }) => writable);
  const owned = ownedBelow(isWritable ? own : [], outside, {
    pinned: protections.flatMap(({ pinned }) => pinned),
    places: [...protections.flatMap(({ places }) => places), ...input.ownFolders],
    hidden: masked,
  });
  const ofCommand: Mount[] = [
    ...hides(secret, input.blank),
    ...input.cacheMounts,
    ...own.map((root) => bind(root, root, isWritable)),
    ...[...outside, ...owned.pinned].map((path) => bind(path, path, true)),
    ...[...owned.readOnly, ...input.ownFolders.filter((path) => own.includes(path))].map((path) => bind(path, path, false)),
    ...binds.map((one) => bind(one.from, one.to, one.writable)),
    // What an approval names exactly wins over everything else.
    ...approved.filter(existsSync).map((path) => bind(realpathSync(path), realpathSync(path), true)),
  ];
  const proc = ["--proc", "/proc", ...kernelSettings().flatMap((path) => ["--ro-bind", path, path])];
  const isApproved = (path: string): boolean =>
    approved.some((each) => contains(path, each) || (contains(each, path) && own.every((root) => isProtectedItself(each, root))));
  const notApproved = (paths: readonly string[]): string[] => paths.filter((path) => !isApproved(path));
  const ground = standing?.mounts ?? groundOf(input);
  const seen = {
    absent: notApproved(owned.absent),
    kept: notApproved([...owned.readOnly, ...owned.links]),
    hidden: masked,
    isWritable: (real: string): boolean => isWritableAt(real, [...ground, ...ofCommand]),
  };
  if (standing === undefined) {
    const mounts = [...ground, ...ofCommand];
    return { args: [...groundArguments(mounts, ""), ...proc], ...seen };
  }
  // A place that was replaced since has lost what hid it.
  const fresh = hides(
    masked.filter((path) => standing.identities[path] !== identityOf(path)),
    input.blank,
  );
  // What has gone since must not be made again, just to be hidden.
  const left = standing.mounts.filter((mount) => mount.type !== "hide" || mount.isFolder || masked.includes(mount.to));
  const mounts = mountsUpon(
    left.filter(({ to }) => existsSync(to)),
    [...fresh, ...ofCommand],
  );
  const dev = isDevShared ? [] : devices("", shmBytes(standing.mounts));
  return { args: ["--dev-bind", standing.path, "/", ...dev, ...mountArguments(mounts, standing.mounts), ...proc], ...seen };
}

function hides(paths: readonly string[], blank: string): Mount[] {
  return paths.map((path) => ({ type: "hide", to: path, isFolder: isFolder(path), blank }));
}

/** Changes when a path is replaced by another file of that name. */
export function identityOf(path: string): string {
  const stat = lookClosely(path);
  return stat === undefined ? "" : `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
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
  // Nobody else may write there.
  if (process.getuid?.() !== 0) return [];
  const entries = readdirSync("/proc").filter((name) => !/^\d+$/.test(name));
  return entries.map((name) => join("/proc", name)).filter((path) => path === "/proc/sys" || holdsWritable(path));
}

function holdsWritable(path: string): boolean {
  const stat = lookAt(path);
  if (stat === undefined || stat.isSymbolicLink()) return false;
  if (!stat.isDirectory()) return (stat.mode & 0o222) !== 0;
  try {
    return readdirSync(path).some((name) => holdsWritable(join(path, name)));
  } catch {
    return true;
  }
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
