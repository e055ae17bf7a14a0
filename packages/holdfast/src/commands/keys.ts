import type { PublicKey } from "@holdfast/node/host/public-keys";
import { isKeyOpen, openSigner } from "@holdfast/node/host/signer";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { ensureHome, homeFolder } from "../config/home.ts";
import { addKey, readKeyFile, readKeys, removeKey, rotateKey, signingKeyPath } from "../evidence/keys.ts";
import { jsonLine } from "../render/json-events.ts";
import { table } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";

const spec: CommandSpec = {
  name: "keys",
  summary: "Shows the public key with which this home signs, replaces it, and keeps the public keys of others.",
  usage: [
    "holdfast keys show",
    "holdfast keys list [--json]",
    "holdfast keys add NAME FILE",
    "holdfast keys remove NAME|ID",
    "holdfast keys rotate",
  ],
  flags: { json: { kind: "boolean", help: "with list: one JSON object a line" } },
  words: { min: 0, max: 3, named: "show, list, add, remove or rotate" },
  notes: [
    "The private key lies in keys/signing.pem of the home and is for its owner alone; no command can read it, and nothing here shows it. Whoever holds it can sign anything in this home's name.",
    "Show prints the public key as PEM, to be given to whoever verifies; they add it under a name. Let it reach them by a way that you trust.",
    "After rotate a new key signs; what the old one signed is still accepted here, until remove takes that key away by its ID.",
  ],
  examples: [
    ["holdfast keys show > holdfast.pem", "the public key, for another machine"],
    ["holdfast keys add build-server holdfast.pem", "on that machine"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb = "list", ...words] = given.words;
  const takes = (count: number, what: string): void => {
    if (words.length !== count) throw usage(spec, `${verb} takes ${what}`);
  };
  if (given.has("json") && verb !== "list") throw usage(spec, `--json doesn't belong to ${verb}`);
  const home = homeFolder(io.env, io.cwd);
  await ensureHome(home);
  const [name = "", file = ""] = words;
  switch (verb) {
    case "show": {
      takes(0, "no word");
      // Made now where there is none, as by the first session.
      await openSigner(signingKeyPath(home));
      const { own } = await readKeys(home);
      if (own !== null) io.stdout.write(own.pem);
      if (own !== null && io.stdout.isTTY) io.stderr.write(`the public key ${own.keyId}\n`);
      await tellOpen(home, io);
      return 0;
    }
    case "list":
      takes(0, "no word");
      await list(given, io, home);
      return 0;
    case "add": {
      takes(2, "a name and a file");
      const key = await readKeyFile(file, io.cwd, name);
      await addKey(home, name, key);
      io.stderr.write(`what ${key.keyId} signs is accepted here from now on, as ${sanitizeLine(name)}'s\n`);
      return 0;
    }
    case "remove": {
      takes(1, "a name or an ID");
      const key = await removeKey(home, name);
      io.stderr.write(`what ${key.keyId} signed is no longer accepted here\n`);
      return 0;
    }
    case "rotate": {
      takes(0, "no word");
      const key = await rotateKey(home);
      io.stderr.write(`${key.keyId} signs from now on: give holdfast keys show to whoever verifies\n`);
      return 0;
    }
    default:
      throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "show, list, add, remove or rotate");
  }
}

async function list(given: Arguments, io: Io, home: string): Promise<void> {
  const { own, replaced, others } = await readKeys(home);
  const rows: [kind: string, key: PublicKey][] = [
    ...(own === null ? [] : [["signs here", own] as [string, PublicKey]]),
    ...replaced.map((key): [string, PublicKey] => ["signed here", key]),
    ...others.map((key): [string, PublicKey] => ["of others", key]),
  ];
  if (given.has("json")) {
    for (const [kind, { keyId, name, pem }] of rows) {
      io.stdout.write(jsonLine({ type: "key", keyId, use: kind, name: kind === "of others" ? name : null, publicKey: pem }));
    }
    return;
  }
  if (rows.length === 0) io.stdout.write("no key yet: the first session makes one\n");
  else {
    const lines = rows.map(([kind, { keyId, name }]) => [keyId, kind, kind === "of others" ? sanitizeLine(name) : ""]);
    io.stdout.write(`${table([["key", "use", "name"], ...lines], io.stdout.columns).join("\n")}\n`);
  }
  await tellOpen(home, io);
}

async function tellOpen(home: string, io: Io): Promise<void> {
  const path = signingKeyPath(home);
  if (await isKeyOpen(path)) io.stderr.write(`others can read ${sanitizeLine(path)}: chmod 600, then holdfast keys rotate\n`);
}

export const command: Command = { ...spec, run };
