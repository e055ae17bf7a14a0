/** Folders whose content is run, or tells a program what to run, by something other than the task at hand. */
const protectedFolders = new Set([
  ".git",
  ".husky",
  ".githooks",
  ".vscode",
  ".idea",
  ".devcontainer",
  ".holdfast",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
]);

/** The same for single files. `.git` is one in a linked work tree. */
const protectedNames = new Set([
  ".git",
  ".gitconfig",
  ".gitmodules",
  ".envrc",
  ".mcp.json",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
]);

/**
 * Whether a path (parts separated by `/`) names such a place. Parts are compared as the laxest file system would read
 * them: without case, without the characters HFS+ ignores, without the trailing dots and spaces that Windows drops, and
 * with the short name that NTFS gives `.git`.
 */
export function isProtectedPath(path: string): boolean {
  const parts = path.split("/").map(fold);
  return parts.some((part) => protectedFolders.has(part)) || protectedNames.has(parts.at(-1) ?? "");
}

function fold(part: string): string {
  const plain = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return /^git~\d$/.test(plain) ? ".git" : plain;
}
