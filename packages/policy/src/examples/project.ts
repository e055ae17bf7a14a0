import type { PathIdentity } from "@holdfast/runtime/ports/files";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";

/*
 * The project in which commands are judged: a usual one, known by its names. Sources and the usual files of a root folder
 * are there and under version control; anything else isn't there. So a decision never depends on the machine it is made on.
 */
export const workspace = "/srv/project";
export const home = "/home/ana";

const sources = /^(?:src|lib|app|test|tests|spec|docs|scripts|packages|migrations|config|public)(?:\/|$)/;
const atRoot =
  /^(?:README\.md|CHANGELOG\.md|LICENSE|package(?:-lock)?\.json|tsconfig\.json|Makefile|Cargo\.toml|go\.mod|pyproject\.toml|\.gitignore)$/;

function resolve(path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${workspace}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function relativeOf(real: string): string | null {
  if (real === workspace) return "";
  return real.startsWith(`${workspace}/`) ? real.slice(workspace.length + 1) : null;
}

const isTracked = (relative: string): boolean => relative === "" || sources.test(relative) || atRoot.test(relative);

async function identify(path: string): Promise<PathIdentity> {
  const real = resolve(path);
  const relative = relativeOf(real);
  const isThere = relative !== null && (isTracked(relative) || relative === ".git");
  const isFile = /\.\w+$|(?:^|\/)[A-Z]+[a-z]*$/.test(real);
  return {
    real,
    kind: !isThere ? "missing" : isFile ? "file" : "directory",
    root: relative === null ? null : workspace,
    relative,
    crossesLink: false,
    isProtected: relative === ".git" || relative?.startsWith(".git/") === true,
  };
}

/**
 * A command proposed in a session whose sandbox lets it write in the workspace and has no network, where `setting` says
 * nothing else; nothing was approved before.
 */
export function requestFor(command: string, setting: Partial<PolicyRequest> = {}): PolicyRequest {
  return {
    tool: "run_command",
    plan: {
      input: { command },
      summary: command,
      reads: [],
      writes: [],
      workspace: "exclusive",
      replay: "never",
      changesWorkspace: true,
      cwd: workspace,
      command,
    },
    mode: "workspace-write",
    network: "none",
    canSandbox: true,
    isTrusted: true,
    repeatsDoubt: false,
    identify,
    isTracked: async (real) => isTracked(relativeOf(real) ?? "?"),
    ...setting,
  };
}
