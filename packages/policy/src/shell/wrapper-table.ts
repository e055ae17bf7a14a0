import type { OptionTable } from "./options.ts";

/** How a program that runs another one is called. */
export interface WrapperForm {
  readonly options: OptionTable;
  /** Operands of its own before the command: `timeout 5 ls`. */
  readonly operands?: number;
  /** True where `NAME=value` words may come before the command. */
  readonly takesAssignments?: boolean;
  /** True where each operand is a shell line. */
  readonly takesLines?: boolean;
  /** Options whose value is itself a shell line. */
  readonly lines?: readonly string[];
  /** Options after which the program lies about, or moves, what it runs: seen through, but never proven. */
  readonly opaque?: readonly string[];
  /** True where what it runs is told as it stands; false where the wrapper has an effect of its own. */
  readonly isTransparent: boolean;
}

const own = (options: OptionTable, more: Partial<WrapperForm> = {}): WrapperForm => ({
  options: { ...options, stopsAtOperand: true },
  isTransparent: true,
  ...more,
});

const sudo: OptionTable = {
  flags: "AbBEeHiKklNnPSsVv",
  valued: "CDghpRrTtUu",
  long: [
    "user=",
    "group=",
    "host=",
    "prompt=",
    "chdir=",
    "chroot=",
    "preserve-env=?",
    "login",
    "shell",
    "non-interactive",
    "stdin",
    "background",
    "set-home",
  ],
};

/** Programs whose operands are another command. Runners of packages are in `runners.ts`, shells in `wrappers.ts`. */
export const wrapperForms: ReadonlyMap<string, WrapperForm> = new Map<string, WrapperForm>([
  [
    "env",
    own(
      {
        flags: "i0v",
        valued: "uCS",
        long: [
          "ignore-environment",
          "null",
          "debug",
          "unset=",
          "chdir=",
          "split-string=",
          "default-signal=?",
          "ignore-signal=?",
          "block-signal=?",
        ],
      },
      { takesAssignments: true, lines: ["S", "split-string"], opaque: ["C", "chdir", "u", "unset"] },
    ),
  ],
  ["sudo", own(sudo, { takesAssignments: true, isTransparent: false })],
  ["doas", own({ flags: "Lns", valued: "aCu" }, { isTransparent: false })],
  ["run0", own({ valued: "ugD", long: ["user=", "group=", "chdir=", "setenv="] }, { isTransparent: false })],
  ["pkexec", own({ long: ["user=", "disable-internal-agent"] }, { isTransparent: false })],
  ...["gosu", "su-exec"].map((name) => [name, own({}, { operands: 1, isTransparent: false })] as const),
  ["chroot", own({ long: ["userspec=", "groups=", "skip-chdir"] }, { operands: 1, isTransparent: false })],
  ["nice", own({ flags: "#", valued: "n", long: ["adjustment="] })],
  ["ionice", own({ flags: "t", valued: "cn", long: ["class=", "classdata=", "ignore"] })],
  ["chrt", own({ flags: "bfiomr", long: ["batch", "fifo", "idle", "other", "rr"] }, { operands: 1, isTransparent: false })],
  ["taskset", own({ flags: "c", long: ["cpu-list"] }, { operands: 1 })],
  [
    "timeout",
    own({ flags: "fpv", valued: "ks", long: ["foreground", "preserve-status", "verbose", "kill-after=", "signal="] }, { operands: 1 }),
  ],
  ["gtimeout", own({ valued: "ks", long: ["foreground", "preserve-status", "kill-after=", "signal="] }, { operands: 1 })],
  ["nohup", own({})],
  ["setsid", own({ flags: "cfw", long: ["ctty", "fork", "wait"] })],
  ["stdbuf", own({ valued: "ioe", long: ["input=", "output=", "error="] })],
  ["unbuffer", own({ flags: "p" })],
  [
    "time",
    own({ flags: "pvlha", valued: "fo", long: ["portability", "verbose", "format=", "output=", "append"] }, { opaque: ["o", "output"] }),
  ],
  ["command", own({ flags: "p" })],
  ["builtin", own({})],
  ["exec", own({ flags: "cl", valued: "a" }, { opaque: ["a", "c", "l"] })],
  ["busybox", own({})],
  ["toybox", own({})],
  ["caffeinate", own({ flags: "disum", valued: "tw" })],
  ["chronic", own({ flags: "ev" })],
  ["faketime", own({ flags: "m", valued: "f" }, { operands: 1, isTransparent: false })],
  ["dbus-run-session", own({}, { isTransparent: false })],
  ["xvfb-run", own({ flags: "al", valued: "enpfsw", long: ["auto-servernum", "server-args="] }, { isTransparent: false })],
  ["strace", own({ flags: "cCdfFhiknqrtTvxyYzZ", valued: "abeEIoOpPsSuUX" }, { isTransparent: false })],
  ["ltrace", own({ flags: "bcCfiLrStT", valued: "aAeFlnoPsuwx" }, { isTransparent: false })],
  [
    "valgrind",
    own({ flags: "qv", long: ["tool=", "leak-check=", "error-exitcode=", "track-origins=", "log-file="] }, { isTransparent: false }),
  ],
  [
    "hyperfine",
    own(
      {
        flags: "iN",
        valued: "wrmMpcsn",
        long: [
          "warmup=",
          "runs=",
          "prepare=",
          "conclude=",
          "setup=",
          "cleanup=",
          "export-json=",
          "export-markdown=",
          "shell=",
          "ignore-failure",
        ],
      },
      { lines: ["p", "prepare", "conclude", "s", "setup", "c", "cleanup"], isTransparent: false, takesLines: true, opaque: ["shell"] },
    ),
  ],
  [
    "flock",
    own(
      { flags: "efFnosuxv", valued: "cEw", long: ["exclusive", "shared", "nonblock", "timeout=", "command="] },
      { operands: 1, lines: ["c", "command"], isTransparent: false },
    ),
  ],
  ["unshare", own({ flags: "CfimnpruUTc", long: ["fork", "pid", "net", "user", "mount", "map-root-user"] }, { isTransparent: false })],
  ["nsenter", own({ flags: "aCFimnpruU", valued: "tSGrw", long: ["all", "target="] }, { isTransparent: false })],
  ["ssh-agent", own({ flags: "csDd", valued: "aEtO" }, { isTransparent: false })],
  ["cross-env", own({}, { takesAssignments: true })],
  ["cross-env-shell", own({}, { takesAssignments: true, isTransparent: false })],
  ["dotenv", own({ flags: "oc", valued: "efv" }, { isTransparent: false })],
]);

/** Wrappers of which too little can be seen: whatever they run is code that only exists at run time. */
export const opaqueWrappers: ReadonlySet<string> = new Set(["parallel", "sem", "expect", "rlwrap", "entr", "runuser", "su"]);

/** Programs that read a shell line from `-c`, a file, or their input. */
export const shells: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "mksh",
  "ash",
  "rbash",
  "fish",
  "csh",
  "tcsh",
  "yash",
  "pwsh",
  "powershell",
]);
