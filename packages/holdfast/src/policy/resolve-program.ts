import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

const builtins = new Set(
  "alias bg break builtin cd command continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readonly return set shift shopt source . : [ [[ (( test times trap true type typeset ulimit umask unalias unset wait".split(
    " ",
  ),
);

/** What a shell would run under a name: a file, by its real path, or something of its own. */
export async function resolveProgram(name: string, path: string, cwd: string): Promise<string> {
  if (builtins.has(name)) return "of the shell itself";
  const candidates = name.includes("/") ? [resolve(cwd, name)] : path.split(":").map((folder) => join(resolve(cwd, folder), name));
  for (const candidate of candidates) {
    try {
      await access(candidate, constants.X_OK);
      if (!(await stat(candidate)).isFile()) continue;
      return await realpath(candidate);
    } catch {
      // The next folder may have it.
    }
  }
  return "not found";
}
