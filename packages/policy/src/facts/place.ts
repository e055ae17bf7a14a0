import { isProtectedPath } from "@holdfast/runtime/paths/protected";

/** What the policy knows of the host beyond a single request. All paths absolute. */
export interface PolicyPlaces {
  /** The person's home folder; null where there is none (a browser). */
  readonly home: string | null;
  /** Folders for temporary files, where writing needs no question. */
  readonly temporary: readonly string[];
  /** Holdfast's own home: its records, keys and settings. Nobody writes there through a tool. */
  readonly holdfastHome: string | null;
  /** Further folders that the sandbox hides. */
  readonly masked: readonly string[];
  /** What the sandbox hides in the workspace. */
  readonly hidden: () => Promise<readonly string[]>;
  /** Files of the workspace that hooks and MCP servers run. */
  readonly guarded: readonly string[];
}

/** Removes `.` and `..` by the letter of the path; links are the file system's business. */
export function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || !path.startsWith("/")) parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Build output and caches by convention: deleting them loses nothing that can't be made again. */
const regenerable =
  /(?:^|\/)(?:node_modules|dist|build|out|target|coverage|htmlcov|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.vite|\.svelte-kit|\.angular|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.nox|\.nyc_output|\.gradle|\.eslintcache|\.tsbuildinfo|[\w.-]+\.egg-info|[\w.-]+\.tsbuildinfo|[\w.-]+\.py[co]|tmp|temp|\.tmp|(?:tmp|temp)[-_.][\w.-]+|[\w.-]+\.(?:tmp|temp|sw[op]|orig|rej)|\.DS_Store)(?:\/|$)/;

export function isRegenerable(relative: string): boolean {
  return regenerable.test(relative) && !relative.split("/").includes(".git");
}

/**
 * Files of a workspace whose content runs later, or decides what does: hooks, tasks of editors and of continuous
 * integration, settings and instructions of agents. `.git` as a whole is named by the host (`isProtected`).
 */
const runsLater =
  /(?:^|\/)(?:\.git(?:\/(?:hooks|config|info|modules)(?:\/.*)?)?|\.gitmodules|\.gitattributes|\.gitconfig|\.hg\/hgrc|\.jj\/repo\/config\.toml|\.npmrc|\.pnpmfile\.c?js|\.yarnrc(?:\.ya?ml)?|\.bunfig\.toml|bunfig\.toml|\.cargo\/config(?:\.toml)?|\.mvn\/.+|gradle\/wrapper\/.+|\.bundle\/config|pip\.conf|\.netrc|\.husky\/.+|\.githooks\/.+|\.holdfast(?:\/.*)?|\.github\/(?:(?:workflows|actions)\/.+|dependabot\.ya?ml|copilot-instructions\.md|instructions\/.+|prompts\/.+)|\.gitlab-ci\.ya?ml|\.circleci\/.+|Jenkinsfile|\.travis\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.woodpecker(?:\/.+|\.ya?ml)|\.buildkite\/.+|appveyor\.ya?ml|renovate\.json5?|\.vscode\/(?:tasks|settings|launch|extensions|mcp)\.json|(?:\.idea|\.zed|\.fleet|\.helix)\/.+|\.(?:exrc|vimrc|lvimrc|nvimrc|nvim\.lua|gdbinit|lldbinit)|\.dir-locals(?:-2)?\.el|\.devcontainer(?:\/.*|\.json)|\.claude(?:\/.*)?|\.codex(?:\/.*)?|\.cursor(?:\/.*)?|\.gemini(?:\/.*)?|\.opencode(?:\/.*)?|opencode\.jsonc?|\.(?:qwen|kilocode|cline|pi|amp|factory)(?:\/.*)?|\.?crush\.json|\.windsurf(?:\/.*|rules)|\.clinerules(?:\/.*)?|\.roo(?:\/.*|rules)|\.aider\.conf\.ya?ml|\.continue(?:\/.*)?|\.kiro(?:\/.*)?|\.junie(?:\/.*)?|\.agents(?:\/.*)?|\.mcp\.json|mcp\.json|AGENTS\.md|CLAUDE\.md|GEMINI\.md|\.cursorrules|\.envrc|\.autoenv(?:\.zsh)?|\.?mise(?:\.local)?\.toml|\.(?:config\/)?mise\/.+|\.pre-commit-config\.yaml|\.overcommit\.yml|\.?lefthook(?:-local)?\.(?:ya?ml|toml))$/i;

export function isRunLater(relative: string): boolean {
  return runsLater.test(relative);
}

const startsSomewhere = /\/(?:\.config\/(?:git|fish|autostart|systemd)|\.local\/bin)(?:\/|$)/;

/** Whether a file outside the workspace runs later: those of other projects, and what the person's next shell or login runs. */
export function isRunLaterOutside(real: string): boolean {
  return isProtectedPath(real) || isRunLater(real) || startsSomewhere.test(real);
}
