import { stat, open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { usage } from "../../cli/parse.ts";
import { writeAtomically } from "../../config/home.ts";
import { secretValues } from "../../config/provider.ts";
import { exportSession } from "../../export/document.ts";
import { renderMarkdown } from "../../export/markdown.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withStore } from "./call.ts";

export async function exportTo(call: Call, [id = ""]: readonly string[]): Promise<number> {
  const { given, io, setup, spec } = call;
  const output = given.value("output");
  const format = given.value("format") ?? (output?.endsWith(".json") ? "json" : "md");
  const path = output === undefined ? null : resolve(io.cwd, output);
  const isForced = given.has("force");
  if (isForced && path === null) throw usage(spec, "--force belongs to -o FILE");
  if (path !== null) await refuseUnwritable(path, isForced);
  const document = await withStore(call, async ({ ports, runtime }) => {
    const { session } = await sessionById(ports, id);
    return exportSession(await runtime.readSession(ports, session), {
      itemsOf: runtime.itemsOf,
      redact: runtime.redact,
      secrets: secretValues(setup.config, io.env),
      hasOutputs: !given.has("no-outputs"),
    });
  });
  const text = format === "json" ? `${JSON.stringify(document, null, 2)}\n` : renderMarkdown(document);
  if (path === null) io.stdout.write(text);
  else {
    await write(path, text, isForced);
    io.stderr.write(`exported ${document.session.id} to ${sanitizeLine(path)}\n`);
  }
  return 0;
}

/** Found out before a long session is read. */
async function refuseUnwritable(path: string, isForced: boolean): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) throw new HoldfastError("usage", `-o: ${path} is a folder`);
  if (found?.isFile() && !isForced) throw existing(path);
  if (!(await stat(dirname(path)).catch(() => null))?.isDirectory())
    throw new HoldfastError("usage", `-o: there is no folder ${dirname(path)}`);
}

function existing(path: string): HoldfastError {
  return new HoldfastError("file_exists", `-o: ${path} is there already`, { hint: "name another file, or replace it with --force" });
}

/** Either all of it, or no file and the one that was there before. */
async function write(path: string, text: string, isForced: boolean): Promise<void> {
  try {
    const isNew = (await stat(path).catch(() => null)) === null;
    if (isForced || !isNew) await writeAtomically(path, text, 0o600);
    else await writeNew(path, text);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EEXIST") throw existing(path);
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldfastError(isFull ? "store_full" : "usage", `-o: the export could not be written to ${path}: ${why}`, {
      hint: isFull ? "free some space, or name a file on another disk" : "name a file that can be written",
      cause: error,
    });
  }
}

/** Fails where somebody else made the file meanwhile. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
