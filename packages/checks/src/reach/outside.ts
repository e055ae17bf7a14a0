import type { CheckFiles } from "@holdfast/runtime";
import type { Workplace } from "../inputs.ts";
import { quotedTexts } from "../loads.ts";
import { below, folderOf, resolvePath } from "../paths.ts";

/** Lines that a file did not have before. */
export interface NewLines {
  readonly root: string;
  readonly path: string;
  readonly text: string;
}

/** What belongs to the machine: the session's user can't write there, or everything there changes all the time. */
const ofTheMachine = /^\/(?:bin|sbin|usr|lib\w*|etc|dev|proc|sys|run|nix|snap|boot)(?:\/|$)/;
const ofTheUser = /\b(?:homedir|expanduser|HOME|home_dir|USERPROFILE)\b|\.home\s*\(/;
/** Where modules are looked for. */
const searched = /\bsys\.path\b|\baddsitedir\b|\buse\s+lib\b|@INC\b|\bNODE_PATH\b|\bPERL5LIB\b|\bPYTHONPATH\b|(?:^|[\s;&|])PATH=/;
const shellWord = /(?:^|[\s=:])((?:~|\.\.|\$\{?HOME\}?)?\/[^\s"'`;&|)<>:]+|\.\.\/[^\s"'`;&|)<>:]+)/g;
const mostPaths = 2_000;

/** Absolute paths outside the workspace that a line of `path` may mean. */
function pathsIn(line: string, folders: readonly string[], userFolder: string): string[] {
  const quoted = quotedTexts(line);
  const words = [...line.replace(/(["'`])[^"'`\n]*\1/g, " ").matchAll(shellWord)].map(([, word = ""]) => word);
  // `path.join(dir, "..", "..", "elsewhere/a.js")` says it in pieces.
  const pieces = quoted.length > 1 && quoted.some((one) => one.startsWith("..") || ofTheUser.test(line)) ? [quoted.join("/")] : [];
  return [...quoted, ...words, ...pieces].flatMap((one) => {
    const text = one
      .replace(/^file:\/\//, "")
      .replace(/^\$\{[^}]*\}(?=\/)/, "~")
      .replace(/^\$HOME(?=\/)/, "~");
    if (text.includes("://") || text === "" || /[\s*?]/.test(text)) return [];
    const home = text.startsWith("~/") ? text.slice(2) : ofTheUser.test(line) && !text.startsWith("/") ? text : null;
    const found = home === null ? [] : [resolvePath(userFolder, home)];
    if (text.startsWith("/")) found.push(`/${resolvePath("", text) ?? ""}`);
    else if (text.includes("..")) for (const folder of folders) found.push(resolvePath(folder, text));
    return found.flatMap((path) => (path === null ? [] : path.startsWith("/") ? [path] : [`/${path}`]));
  });
}

/**
 * Files outside the workspace that new lines name and that are there, and places there where modules are looked for: no
 * digest covers them, and where the session's commands can write outside, what they hold may be its own work.
 */
export async function namedOutside(files: CheckFiles, workplace: Workplace, lines: readonly NewLines[]): Promise<string[]> {
  const { userFolder = null, roots, cwd } = workplace;
  if (userFolder === null) return [];
  const isOutside = (path: string): boolean => !ofTheMachine.test(path) && !roots.some((root) => below(root.path, path) !== null);
  const asked = new Set<string>();
  const found = new Set<string>();
  for (const { root, path, text } of lines) {
    const top = roots.find(({ id }) => id === root)?.path ?? cwd;
    const folders = [`${top}/${folderOf(path)}`, cwd, top].map((one) => one.replace(/^\/|\/$/g, ""));
    const add = async (one: string, isSearched: boolean): Promise<void> => {
      if (asked.has(one) || asked.size >= mostPaths || !isOutside(one)) return;
      asked.add(one);
      // A folder is no file, and what else is in it says nothing.
      const isThere = (await files.read({ root: "", path: one })) !== null;
      if (isThere || (isSearched && (await files.sign([{ root: "", path: one }])).size > 0)) found.add(one);
    };
    const places = new Set<string>();
    for (const line of text.split("\n")) {
      if (!/[~/]|\.\./.test(line) && !ofTheUser.test(line)) continue;
      for (const one of pathsIn(line, folders, userFolder.replace(/^\//, ""))) {
        if (isOutside(one)) places.add(one);
        await add(one, searched.test(line));
      }
    }
    // A folder in one line, and what is taken from it in another.
    if (places.size > 0) {
      const names = quotedTexts(text).filter((one) => /^\/?[\w.-][\w./-]*$/.test(one));
      for (const place of places) for (const name of names) await add(`${place}/${name.replace(/^\//, "")}`, false);
    }
  }
  return [...found];
}
