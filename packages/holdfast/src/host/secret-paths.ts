import { sep } from "node:path";

/** Files of the workspace that `[sandbox] hide` names, as they are now. */
export function hiddenFiles(roots: readonly string[], patterns: readonly string[]): () => Promise<readonly string[]> {
  return async () => {
    if (patterns.length === 0) return [];
    const { secretFiles } = await import("@holdfast/node/sandbox/secret-files");
    return roots.flatMap((root) => secretFiles(root, patterns));
  };
}

/** Which files are shown only to who asks for them by name: what reading them asks a person for, and what is hidden. */
export function secretsNow(userHome: string, hidden: () => Promise<readonly string[]>): () => Promise<(path: string) => boolean> {
  return async () => {
    const [{ secretPlace }, paths] = await Promise.all([import("@holdfast/policy/programs/secrets"), hidden()]);
    return (path) =>
      secretPlace(path.replaceAll(sep, "/"), userHome) !== null || paths.some((each) => path === each || path.startsWith(each + sep));
  };
}
