import { besides, honest as usual } from "./honest.ts";
import { parts } from "./honest-parts.ts";
import { node } from "./dialects/node.ts";
import { perl } from "./dialects/perl.ts";
import { python } from "./dialects/python.ts";
import { shell } from "./dialects/shell.ts";
import { around } from "./families/around.ts";
import { helpers } from "./families/helpers.ts";
import { inProcess } from "./families/process.ts";
import { runner } from "./families/runner.ts";
import { sources } from "./families/sources.ts";
import { stamps } from "./families/stamps.ts";
import { tests } from "./families/tests.ts";
import { tree } from "./families/tree.ts";
import { words } from "./families/words.ts";

export { changing } from "./honest.ts";
export const families = [...words, ...tests, ...runner, ...inProcess, ...tree, ...around, ...sources, ...stamps, ...helpers];
export const honest = [...usual, ...besides, ...parts];
/** Those whose programs are on this machine. */
export const dialects = [node, python, shell, perl].filter((dialect) => dialect.isHere());
export const names: readonly string[] = dialects.map(({ name }) => name);
