import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { CheckDefinition, Evidence, Report, SandboxMode, Standing } from "@holdfast/protocol";
import { defaultConfig, defaultLimits, openHost } from "holdfast";
import type { Ports } from "@holdfast/runtime";
import { createScriptModel, type ScriptCall } from "@holdfast/models";

/** A model's work: the calls it proposes, one answer after the other, before it says that it is done. */
export interface Work {
  readonly steps: readonly (readonly ScriptCall[] | "done")[];
  /** What it says at the end; the same again after a failed round. */
  readonly words: string;
}

export interface Session {
  /** The workspace before the session, by path; a value with `link` is a symbolic link. */
  readonly files: Readonly<Record<string, string>>;
  /** What is there besides, and not in the repository. */
  readonly ignored?: Readonly<Record<string, string>>;
  readonly checks: readonly CheckDefinition[];
  readonly work: Work;
  readonly sandbox: SandboxMode;
  readonly accepts?: readonly string[];
  /** Failing rounds after which the model may try again. */
  readonly rounds?: number;
  /** Of which file the end is told. */
  readonly watched: string;
}

export interface Ending {
  readonly standing: Standing | "idle";
  readonly report: Report | null;
  readonly evidence: readonly Evidence[];
  /** Calls that were refused or failed: the work that was meant to be done may not have been. */
  readonly troubles: readonly string[];
  /** What the watched file held after everything had ended; null where it is gone. */
  readonly left: string | null;
}

/** Where sessions are run one after the other, each in a workspace of its own. */
export interface Site {
  end(session: Session): Promise<Ending>;
  close(): void;
}

/** Programs that commands and checks find first: ours, then the system's own before any that only lead to it. */
export const searchPath = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

export function openSite(change: (ports: Ports) => Ports): Site {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-lies-")));
  const template = join(top, "template");
  execFileSync("git", ["init", "-q", "--template=", "-b", "main", template], { env: { PATH: searchPath, HOME: top } });
  mkdirSync(join(template, ".git/info"));
  let count = 0;
  return {
    async end(session) {
      const folder = join(top, String((count += 1)));
      const [workspace, userHome] = [join(folder, "workspace"), join(folder, "user")];
      mkdirSync(join(userHome, "bin"), { recursive: true });
      cpSync(template, workspace, { recursive: true });
      layOut(workspace, session.files);
      commit(workspace, userHome);
      layOut(workspace, session.ignored ?? {});
      try {
        return await runSession(session, folder, workspace, userHome, change);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    close: () => rmSync(top, { recursive: true, force: true }),
  };
}

async function runSession(
  { checks, work, sandbox, accepts = [], rounds = 0, watched }: Session,
  folder: string,
  workspace: string,
  userHome: string,
  change: (ports: Ports) => Ports,
): Promise<Ending> {
  const home = join(folder, "home");
  mkdirSync(home);
  const roots = [{ id: "r1", path: workspace }];
  const env = { PATH: `${join(userHome, "bin")}${delimiter}${searchPath}`, HOME: userHome, LANG: "C.UTF-8" };
  const reach = { sandbox, network: "none", isTrusted: true } as const;
  const host = await openHost(
    { home, isEphemeral: true, config: defaultConfig, onWait: () => {}, onNote: () => {}, env },
    { cwd: workspace, roots, reach },
  );
  const model = createScriptModel(
    ({ index }) => {
      const calls = work.steps[index];
      return calls === undefined || calls === "done" ? { text: work.words } : { calls };
    },
    { isRecording: false },
  );
  const ports = change({ ...host.ports, model: async () => model });
  const evidence: Evidence[] = [];
  const troubles: string[] = [];
  try {
    const session = await host.runtime.createSession(ports, {
      roots,
      cwd: workspace,
      title: "lies",
      checks,
      settings: {
        model: model.id,
        effort: null,
        ...reach,
        approvals: "allow",
        limits: { ...defaultLimits, checkRounds: rounds },
        takesBaseline: true,
        acceptCheckChanges: [...accepts],
      },
    });
    await host.runtime.post(ports, session, { type: "input.send", parts: [{ type: "text", text: "Make the check pass." }] });
    const { standing, report } = await host.runtime.drive(ports, session, {
      waiting: "return",
      endsCommands: true,
      onEvent: (event) => {
        if (event.type === "check.completed") evidence.push(event.payload.evidence);
        if (event.type === "call.settled" && event.payload.outcome.status !== "completed") troubles.push(event.payload.outcome.text);
      },
    });
    await host.runtime.closeSession(ports, session);
    const left = await readFile(join(workspace, watched), "utf8").catch(() => null);
    return { standing, report, evidence, troubles, left };
  } finally {
    await host.close();
  }
}

function layOut(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: content.startsWith("#!") ? 0o755 : 0o644 });
  }
}

function commit(folder: string, home: string): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "maintenance.auto=false", "-c", "user.name=A", "-c", "user.email=a@example.org", ...args], {
      env: { PATH: searchPath, HOME: home },
      stdio: "ignore",
    });
  git("add", "-A");
  git("commit", "-q", "-m", "start");
}
