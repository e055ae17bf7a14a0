import { createHash, randomBytes } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface FilterOptions {
  /** Whether a command may open Unix sockets at all. A pair of them (`socketpair`) leads nowhere and always can be had. */
  readonly unixSockets: boolean;
  /** Whether it may make user namespaces: sandboxes of its own. */
  readonly namespaces: boolean;
}

interface Architecture {
  /** AUDIT_ARCH_*, linux/audit.h. */
  readonly audit: number;
  /** Numbers from here on are another way to call the same kernel. */
  readonly foreign: number | null;
  readonly calls: Readonly<Record<CallName, number>>;
}

const denied = [
  // Keys of the user's session, which lie outside every namespace.
  "add_key",
  "request_key",
  "keyctl",
  // Parts of the kernel in which most ways out of a sandbox were found, and which no build or test needs.
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "syslog",
  "kexec_load",
  "init_module",
  "finit_module",
  "delete_module",
  "open_by_handle_at",
] as const;
/** With a fallback in every program that uses them. */
const missing = ["io_uring_setup", "io_uring_enter", "io_uring_register"] as const;
/** What only makes sense in a namespace of one's own. */
const mounting = [
  "mount",
  "umount2",
  "pivot_root",
  "setns",
  "open_tree",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
] as const;
type CallName =
  | (typeof denied)[number]
  | (typeof missing)[number]
  | (typeof mounting)[number]
  | "ioctl"
  | "socket"
  | "clone"
  | "clone3"
  | "unshare";

/** The same on every architecture since Linux 5.1 (asm-generic/unistd.h). */
const recent = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  mount_setattr: 442,
} as const;

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    foreign: 0x40000000,
    calls: {
      ...recent,
      ioctl: 16,
      socket: 41,
      clone: 56,
      syslog: 103,
      pivot_root: 155,
      mount: 165,
      umount2: 166,
      init_module: 175,
      delete_module: 176,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      finit_module: 313,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    foreign: null,
    calls: {
      ...recent,
      ioctl: 29,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      syslog: 116,
      socket: 198,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
    },
  },
};

/** Offsets in `struct seccomp_data` (linux/seccomp.h). Of an argument, its lower half: both architectures begin with that. */
const at = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;
const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
const newUserNamespace = 0x10000000;
/** Typing at the terminal of whoever started us (asm-generic/ioctls.h). */
const typing = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c } as const;
/** Address families that no network namespace holds back: the machine below a virtual one, and the kernel's cryptography. */
const families = { unix: 1, crypto: 38, machines: 40 } as const;

const allow = 0x7fff0000;
const fail = (error: number): number => 0x00050000 | error;

/** One instruction of classic BPF (linux/filter.h): `struct sock_filter`, 8 bytes. */
type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (action: number): Instruction => [0x06, 0, 0, action];
/** Answers where what was loaded is `value`. */
const where = (value: number, action: number): Instruction[] => [[0x15, 0, 1, value], answer(action)];

/**
 * What system calls a sandboxed command doesn't have, as a filter for bubblewrap's `--seccomp`: those that reach what no
 * namespace holds back, and the parts of the kernel that a build or test doesn't need. Null where we don't know the
 * architecture's numbers. A denied call answers with an error, it doesn't end the program.
 */
export function callFilter(architecture: string, options: FilterOptions): Uint8Array | null {
  const found = architectures[architecture];
  if (found === undefined) return null;
  const { audit, foreign, calls } = found;
  /** Instructions for one call, which look at its arguments; then the number is loaded again. */
  const looking = (name: CallName, instructions: readonly Instruction[]): Instruction[] => [
    [0x15, 0, instructions.length + 1, calls[name]],
    ...instructions,
    load(at.number),
  ];
  const withFlag = (offset: number): Instruction[] => [load(offset), [0x45, 0, 1, newUserNamespace], answer(fail(errors.EPERM))];
  const refusedFamilies = [families.crypto, families.machines, ...(options.unixSockets ? [] : [families.unix])];
  const program: Instruction[] = [
    load(at.architecture),
    [0x15, 1, 0, audit],
    answer(fail(errors.ENOSYS)),
    load(at.number),
    ...(foreign === null ? [] : ([[0x35, 0, 1, foreign], answer(fail(errors.ENOSYS))] as const)),
    ...looking("ioctl", [load(at.argument(1)), ...Object.values(typing).flatMap((request) => where(request, fail(errors.EPERM)))]),
    ...looking("socket", [load(at.argument(0)), ...refusedFamilies.flatMap((family) => where(family, fail(errors.EAFNOSUPPORT)))]),
    ...denied.flatMap((name) => where(calls[name], fail(errors.EPERM))),
    ...missing.flatMap((name) => where(calls[name], fail(errors.ENOSYS))),
    ...(options.namespaces
      ? []
      : [
          ...mounting.flatMap((name) => where(calls[name], fail(errors.EPERM))),
          ...looking("clone", withFlag(at.argument(0))),
          ...looking("unshare", withFlag(at.argument(0))),
          // Its flags lie in memory, where a filter can't look; the C library then uses clone.
          ...where(calls.clone3, fail(errors.ENOSYS)),
        ]),
    answer(allow),
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, whenTrue);
    bytes.setUint8(index * 8 + 3, whenFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}

/** The filter as a file below `folder`, by its content; null where there is none for this machine. */
export function filterFile(folder: string, options: FilterOptions): string | null {
  const filter = callFilter(process.arch, options);
  if (filter === null) return null;
  const path = join(folder, `filter.${createHash("sha256").update(filter).digest("hex").slice(0, 16)}`);
  if (existsSync(path)) return path;
  const fresh = `${path}.${randomBytes(4).toString("hex")}`;
  writeFileSync(fresh, filter, { mode: 0o600 });
  renameSync(fresh, path);
  return path;
}
