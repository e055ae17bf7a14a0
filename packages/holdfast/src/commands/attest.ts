import { resolve } from "node:path";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { parseCount } from "../config/limits.ts";
import { findWorkspace } from "../config/workspace.ts";
import { refuseUnwritable, writeOnce } from "../export/write-file.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { newestSession, sessionById } from "../session/find-session.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "attest",
  summary: "Signs what a verified turn showed: an in-toto test result about exactly the files that were tested.",
  usage: ["holdfast attest [SESSION] [--turn N] [-o FILE [--force]]"],
  flags: {
    turn: { kind: "string", value: "N", help: "the Nth turn (default: the last one)" },
    output: { kind: "string", short: "o", value: "FILE", help: "write to this file instead of stdout" },
    force: { kind: "boolean", help: "replace the file where it is there already" },
  },
  words: { min: 0, max: 1, named: "session ID" },
  notes: [
    "Without a SESSION: the newest of this folder. Only a turn that ended verified can be attested, and only from a log that is whole.",
    "Where the files were committed since and are still the same, git's names of tree and commit are in it, too.",
    "It names checks with their commands, tests, globs and digests; no file contents, no folders, nothing that was said.",
    "Whoever holds this home's key can sign anything. Only running a check again needs no trust: holdfast verify --rerun.",
  ],
  examples: [
    ["holdfast attest -o ../fix.intoto.json", "of the newest session of this folder"],
    ["holdfast verify ../fix.intoto.json --repo .", "by whoever has the public key: holdfast keys show"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const wanted = given.value("turn");
  const turn = wanted === undefined ? null : parseCount(wanted);
  if (wanted !== undefined && turn === null) throw usage(spec, `--turn ${JSON.stringify(wanted)} is not a whole number above 0`);
  const output = given.value("output");
  const path = output === undefined ? null : resolve(io.cwd, output);
  if (given.has("force") && path === null) throw usage(spec, "--force belongs to -o FILE");
  if (path !== null) await refuseUnwritable(path, given.has("force"));
  const setup = await openSetup(io);
  const [id] = given.words;
  const store = await hosts.openStore(setup);
  let standing;
  try {
    const row =
      id === undefined ? await newestSession(store.ports, await findWorkspace(".", io.cwd, io.env)) : await sessionById(store.ports, id);
    standing = await store.runtime.readStanding(store.ports, row.session);
  } finally {
    await store.close();
  }
  const { roots, cwd, row } = standing;
  const host = await hosts.openHost({ ...setup, config: { ...setup.config, hooks: {}, mcp: {} } }, { cwd: cwd ?? io.cwd, roots });
  try {
    const { attest } = await import("../evidence/attest.ts");
    const text = await attest(host, setup.home, row.session, turn);
    if (path === null) io.stdout.write(io.stdout.isTTY ? `${text}\n` : text);
    else {
      await writeOnce(path, text, given.has("force"), "the attestation");
      io.stderr.write(`attested ${row.session} to ${sanitizeLine(path)}\n`);
    }
    return 0;
  } finally {
    await host.close();
  }
}

export const command: Command = { ...spec, run };
