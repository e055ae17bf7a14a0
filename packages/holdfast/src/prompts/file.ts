import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { readBoundedFile } from "../cli/bounded.ts";

/** Of a prompt, wherever it comes from, in bytes. */
export const largestPrompt = 1024 * 1024;

/** The text of `--prompt-file`. Throws `usage` where there is none to send. */
export async function readPromptFile(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  const bad = (what: string): HoldfastError => new HoldfastError("usage", `--prompt-file ${file}: ${what}`);
  const found = await stat(path).catch(() => null);
  if (found === null || found.isDirectory()) throw bad(found === null ? "there is no such file" : "this is a folder");
  let text: string | null;
  try {
    const bytes = await readBoundedFile(path, largestPrompt);
    text = bytes === null ? null : new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch (error) {
    if (isHoldfastError(error)) throw bad(error.message);
    throw bad("it can't be read as UTF-8");
  }
  if (text === null) throw bad("more than 1 MB");
  if (text === "") throw bad("it is empty");
  return text;
}
