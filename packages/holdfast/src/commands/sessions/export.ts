import { resolve } from "node:path";
import { usage } from "../../cli/parse.ts";
import { secretValues } from "../../config/provider.ts";
import { exportSession } from "../../export/document.ts";
import { renderMarkdown } from "../../export/markdown.ts";
import { refuseUnwritable, writeOnce } from "../../export/write-file.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { sessionById } from "../../session/find-session.ts";
import { warnOfDamage } from "../../session/warn-of-damage.ts";
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
    const row = await sessionById(ports, id);
    return exportSession(await runtime.readSession(ports, row.session), {
      damage: await warnOfDamage(io, ports, row),
      itemsOf: runtime.itemsOf,
      redact: runtime.redact,
      secrets: secretValues(setup.config, io.env),
      hasOutputs: !given.has("no-outputs"),
    });
  });
  const text = format === "json" ? `${JSON.stringify(document, null, 2)}\n` : renderMarkdown(document);
  if (path === null) io.stdout.write(text);
  else {
    await writeOnce(path, text, isForced, "the export");
    io.stderr.write(`exported ${document.session.id} to ${sanitizeLine(path)}\n`);
  }
  return 0;
}
