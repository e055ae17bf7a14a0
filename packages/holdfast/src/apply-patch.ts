/**
 * The `apply_patch` program: what a command finds under that name on its PATH. It applies a patch, given as its argument or
 * on its input, to the folder it runs in, by the same rules as the tool. Nothing else of Holdfast is loaded.
 */
import { readFileSync } from "node:fs";
import { redactionMark } from "@holdfast/runtime/redact";
import { patchFiles } from "./patch/patch-files.ts";

const { text, isDone } = patchFiles(process.argv[2] ?? readFileSync(0, "utf8"), process.cwd(), (added) => added.includes(redactionMark));
(isDone ? process.stdout : process.stderr).write(`${text}\n`);
process.exitCode = isDone ? 0 : 1;
