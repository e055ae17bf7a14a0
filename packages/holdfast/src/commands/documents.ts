import { homedir } from "node:os";
import { join } from "node:path";
import { showFound } from "@holdfast/harness/documents/search-documents";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { loadConfig } from "../config/config.ts";
import { parseCount } from "../config/limits.ts";
import { homeFolder } from "../config/home.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { openDocuments } from "../documents/library.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine, sanitizeOutput } from "../render/sanitize.ts";

const defaultLimit = 6;

const spec: CommandSpec = {
  name: "documents",
  summary: "Searches the documents of this project, and of the folders that the config names, as the model's search_documents does.",
  usage: ["holdfast documents search QUERY… [--limit N] [--json]"],
  flags: {
    limit: { kind: "string", value: "N", help: `how many passages: ${defaultLimit}` },
    json: { kind: "boolean", help: "one JSON object a passage" },
  },
  words: { min: 0, max: 200, named: "search, and words" },
  notes: ["The index is brought up to date first. It lies in $HOLDFAST_HOME/cache/documents and can be deleted at any time."],
  examples: [["holdfast documents search roll back a release", "the passages that a model would be shown for these words"]],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb, ...words] = given.words;
  if (verb !== "search") throw usage(spec, verb === undefined ? "what should be done?" : `unknown word ${JSON.stringify(verb)}`, "search");
  if (words.length === 0) throw usage(spec, "search for what?", "holdfast documents search roll back a release");
  const limit = parseCount(given.value("limit") ?? String(defaultLimit));
  if (limit === null) throw usage(spec, "--limit takes a whole number of at least 1");
  const home = homeFolder(io.env, io.cwd);
  const { cwd, root } = await findWorkspace(".", io.cwd, io.env);
  const trusted = await isTrusted(home, root);
  const { config } = await loadConfig({ home, project: root, isTrusted: trusted, env: io.env });
  const userHome = io.env["HOME"] || homedir();
  const [{ createFiles }, { secretPaths }] = await Promise.all([
    import("@holdfast/node/files/index"),
    import("@holdfast/node/sandbox/masks"),
  ]);
  const roots = [{ id: "root", path: root }];
  const files = createFiles({
    cwd,
    roots,
    lockDir: join(home, "locks"),
    onWait: () => undefined,
    hidden: () => secretPaths(userHome, home),
  });
  const documents = openDocuments({ ...config.documents, home, userHome, cwd, files, roots: [root] });
  const quit = new AbortController();
  const stop = io.onStop(() => quit.abort());
  try {
    const { found, remarks } = await documents.search(words.join(" "), limit, quit.signal);
    const labelled = found.map((one) => (trusted ? one : { ...one, trust: "untrusted" as const }));
    if (given.has("json")) for (const one of labelled) io.stdout.write(jsonLine({ type: "document.found", ...one }));
    else if (labelled.length === 0) io.stdout.write("no document has these words\n");
    else io.stdout.write(`${labelled.map((one) => sanitizeOutput(showFound(one))).join("\n\n")}\n`);
    for (const remark of remarks) io.stderr.write(`${sanitizeLine(remark)}\n`);
    return 0;
  } finally {
    stop();
    documents.close();
    files.close();
  }
}

export const command: Command = { ...spec, run };
