/** Subcommands of git after which objects that nothing refers to may be gone, or another repository is in the place of this one. */
const drops = /\bgit\b[^\n;|&]*\s(gc|prune|prune-packed|repack|maintenance|reflog|filter-branch|filter-repo|clone|init)\b/;
const names = /(^|[\s/'"=])\.git([\s/'";|&)]|$)/;
/** What walks through a folder and changes whatever it meets. */
const sweeps = /\bfind\b[^\n]*\s-(delete|exec|execdir|ok|okdir)\b|\brsync\b|\brmtree\b|\brimraf\b|\bshred\b|\bgit\b[^\n;|&]*\sclean\b/;
const removes = /\b(?:rm|mv|rmdir|unlink|trash)\s+([^\n;|&]*)/g;
/** The name of something inside the working folder that isn't hidden. */
const plain = /^[A-Za-z0-9_@%+=:,][A-Za-z0-9_@%+=:,/-]*(?:\.[A-Za-z0-9_@%+=:,/-]+)*$/;

/**
 * True where a command line may take away what git holds of clean files: by its words, since what a program does inside
 * can't be known. Without such words content that git has is not copied, unless there is little of it.
 */
export function dropsHistory(command: string): boolean {
  if (drops.test(command) || names.test(command) || sweeps.test(command)) return true;
  return [...command.matchAll(removes)].some(([, rest = ""]) =>
    rest.split(/\s+/).some((word) => word !== "" && !word.startsWith("-") && !plain.test(word)),
  );
}
