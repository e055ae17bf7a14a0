import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { findProgram } from "./programs.ts";

/** The programs that confine commands. */
export interface SandboxPrograms {
  readonly bwrap: string;
  readonly nsenter: string;
  /** Null where it is not installed. */
  readonly socat: string | null;
  /** The start of a command line whose program gets none of our descriptors above 3. */
  readonly alone: readonly string[];
}

/** What a machine lacks to confine commands, found by doing it once. */
export async function probeSandbox(
  scripts: string,
  path: string | undefined,
): Promise<{ readonly programs: SandboxPrograms } | { readonly problem: string }> {
  if (process.platform !== "linux") {
    return { problem: `Commands can't be confined on ${process.platform} yet. Use --sandbox off to run them unconfined.` };
  }
  const bwrap = findProgram("bwrap", path);
  if (bwrap === null) {
    return {
      problem:
        "bubblewrap is not installed. Install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap) or use --sandbox off.",
    };
  }
  const nsenter = findProgram("nsenter", path);
  const bash = findProgram("bash", path);
  if (nsenter === null || bash === null) {
    return { problem: "nsenter or bash is not installed. Install util-linux and bash, or use --sandbox off." };
  }
  const said = await run(bwrap, [
    ...isolation(process.getuid?.() === 0),
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "true",
  ]);
  return said === null
    ? { programs: { bwrap, nsenter, socat: findProgram("socat", path), alone: [bash, "--posix", `${scripts}alone.sh`] } }
    : { problem: `bubblewrap can't make a sandbox here (${said}). ${remedy()}` };
}

/** Namespaces and privileges of every sandbox. Root needs no user namespace, and keeps no capability. */
export function isolation(isRoot: boolean): string[] {
  const shared = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session", "--die-with-parent"];
  return isRoot ? [...shared, "--cap-drop", "ALL"] : [...shared, "--unshare-user"];
}

/** Null where it went well, else what was said. */
function run(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000, encoding: "utf8" }, (error, _out, said) => {
      resolve(error === null ? null : said.trim().split("\n").at(-1) || error.message);
    });
  });
}

function remedy(): string {
  const setting = (path: string): string => {
    try {
      return readFileSync(`/proc/sys/${path}`, "utf8").trim();
    } catch {
      return "";
    }
  };
  if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return "AppArmor keeps user namespaces from unprivileged programs: give bwrap a profile that allows `userns`, or set kernel.apparmor_restrict_unprivileged_userns=0.";
  }
  if (setting("kernel/unprivileged_userns_clone") === "0")
    return "Unprivileged user namespaces are off: set kernel.unprivileged_userns_clone=1.";
  if (setting("user/max_user_namespaces") === "0") return "User namespaces are off: set user.max_user_namespaces to more than 0.";
  return "In a container, it needs to be allowed to make namespaces and to mount /proc; or use --sandbox off.";
}
