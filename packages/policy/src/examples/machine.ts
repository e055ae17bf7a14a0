import type { NetworkAccess, SandboxMode } from "@holdfast/protocol";
import type { PathIdentity } from "@holdfast/runtime/ports/files";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { RuleExample } from "../rules/rule.ts";

/**
 * A small machine on which the examples of rules are judged: a workspace, the home of a person, and links between them.
 * Nothing of it exists on disk, so an example means the same everywhere.
 */
export const workspace = "/srv/app";
export const home = "/home/ana";

const links: Readonly<Record<string, string>> = {
  [`${workspace}/key-link`]: `${home}/.ssh/id_rsa`,
  [`${workspace}/out-link`]: "/opt/out",
  [`${workspace}/hooks-link`]: `${workspace}/.git/hooks`,
};
const folders = new Set([
  workspace,
  ...["src", ".git", ".git/hooks", "docs", ".github", "dist", "node_modules"].map((path) => `${workspace}/${path}`),
  "/",
  home,
  "/opt",
  "/opt/out",
  "/etc",
  "/usr/local/bin",
  "/tmp",
]);
const tracked = new Set(
  ["src", "src/a.ts", "src/b.ts", "README.md", "docs", "AGENTS.md", ".github", "package.json"].map((path) => `${workspace}/${path}`),
);
const files = new Set([
  ...tracked,
  ...["notes.txt", ".env", ".git/config", "a.ts", "dist/main.js"].map((path) => `${workspace}/${path}`),
  `${home}/.ssh/id_rsa`,
  "/etc/passwd",
  "/etc/hosts",
]);

function resolve(path: string): { real: string; crossesLink: boolean } {
  const absolute = path.startsWith("/") ? path : `${workspace}/${path}`;
  let real = "";
  let crossesLink = false;
  for (const part of absolute.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") real = real.slice(0, real.lastIndexOf("/"));
    else real = `${real}/${part}`;
    const target = links[real];
    if (target !== undefined) {
      real = target;
      crossesLink = true;
    }
  }
  return { real: real === "" ? "/" : real, crossesLink };
}

export async function identify(path: string): Promise<PathIdentity> {
  const { real, crossesLink } = resolve(path);
  const isInside = real === workspace || real.startsWith(`${workspace}/`);
  const relative = isInside ? real.slice(workspace.length + 1) : null;
  return {
    real,
    kind: folders.has(real) ? "directory" : files.has(real) ? "file" : "missing",
    root: isInside ? workspace : null,
    relative,
    crossesLink,
    isProtected: relative === ".git" || relative?.startsWith(".git/") === true,
  };
}

export interface Setting {
  readonly mode?: SandboxMode;
  readonly network?: NetworkAccess;
  readonly canSandbox?: boolean;
  readonly repeatsDoubt?: boolean;
  readonly isTrusted?: boolean;
  readonly identify?: PolicyRequest["identify"];
  readonly isTracked?: PolicyRequest["isTracked"];
  readonly locate?: NonNullable<PolicyRequest["locate"]>;
  readonly isPlanning?: boolean;
  readonly project?: string;
  readonly trust?: PolicyRequest["trust"] & {};
}

/** What the policy is told of it. */
export const machine = { home, holdfastHome: `${home}/.holdfast` } as const;

export function request(example: RuleExample, setting: Setting = {}): PolicyRequest {
  if (typeof example !== "string" && "host" in example) return httpRequest(example, setting);
  if (typeof example !== "string" && "mcp" in example) return mcpRequest(example.mcp, setting);
  const isCommand = typeof example === "string";
  const path = isCommand ? "" : absolute(example.path);
  const edits = !isCommand && ["edit_file", "write_file", "apply_patch"].includes(example.tool);
  return {
    tool: isCommand ? "run_command" : example.tool,
    plan: {
      input: isCommand ? { command: example } : { path },
      summary: isCommand ? example : `${example.tool} ${path}`,
      reads: isCommand || edits ? [] : [`file:${path}`],
      writes: edits ? [`file:${path}`] : [],
      workspace: isCommand ? "exclusive" : "shared",
      replay: "never",
      changesWorkspace: isCommand || edits,
      cwd: workspace,
      ...(isCommand ? { command: example } : {}),
    },
    mode: "workspace-write",
    network: "none",
    canSandbox: true,
    isTrusted: true,
    repeatsDoubt: false,
    identify,
    isTracked: async (real) => [...tracked].some((each) => each === real || each.startsWith(`${real}/`)),
    ...setting,
  };
}

/** A path as a tool's plan gives it. */
function absolute(path: string): string {
  if (path === "" || path.startsWith("/")) return path;
  return path.startsWith("~/") ? home + path.slice(1) : `${workspace}/${path}`;
}

function mcpRequest(name: string, setting: Setting): PolicyRequest {
  const at = name.indexOf("/");
  const mcp = { server: name.slice(0, at), tool: name.slice(at + 1), definition: "" };
  const base = request({ tool: `mcp__${mcp.server}__${mcp.tool}`, path: "" }, setting);
  return {
    ...base,
    plan: {
      ...base.plan,
      input: {},
      summary: name,
      reads: [],
      writes: [`mcp:${mcp.server}`],
      workspace: "exclusive",
      changesWorkspace: true,
      mcp,
    },
  };
}

function httpRequest(example: { tool: string; method: string; host: string }, setting: Setting): PolicyRequest {
  const base = request({ tool: example.tool, path: "" }, setting);
  const summary = `${example.method} ${example.host}`;
  const [reads, writes] = example.method === "GET" ? [[`host:${example.host}`], []] : [[], [`host:${example.host}`]];
  return {
    ...base,
    plan: { ...base.plan, input: { url: example.host }, summary, reads, writes, workspace: "none", changesWorkspace: false },
  };
}
