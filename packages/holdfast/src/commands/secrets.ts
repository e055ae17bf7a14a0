import { HoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { canAsk } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { changeHome } from "../config/change.ts";
import { homeFolder } from "../config/home.ts";
import { parseDuration } from "../config/limits.ts";
import { table } from "../render/layout.ts";
import { openKeyring, readKeptSecrets, secretsPath, writeKept } from "../secrets/kept.ts";
import { readHidden } from "../secrets/read-hidden.ts";

const spec: CommandSpec = {
  name: "secrets",
  summary: "Keeps keys and tokens for Holdfast, in the machine's keyring or in a file that only you can read.",
  usage: ["holdfast secrets set NAME [--file] [--expires TIME]", "holdfast secrets list", "holdfast secrets remove NAME"],
  flags: {
    file: { kind: "boolean", help: "with set: keep it in $HOLDFAST_HOME/secrets.json (0600), also where there is a keyring" },
    expires: { kind: "string", value: "TIME", help: "with set: how long it is good for, such as 8h" },
  },
  words: { min: 1, max: 2, named: "set, list or remove" },
  notes: [
    "The value is read from standard input, or typed without being shown; it is never a word of the command line.",
    "A kept secret stands in for the environment variable of its name where that isn't set: OPENAI_API_KEY is found like one that you exported.",
    'No command, hook or server that a session starts gets it, but by a rule: secret = "NAME" in a rule that allows its words.',
  ],
  examples: [
    ["holdfast secrets set ANTHROPIC_API_KEY", "asks for the value, and keeps it in the keyring"],
    ["gh auth token | holdfast secrets set GITHUB_TOKEN --expires 8h", "from another program"],
    ["holdfast secrets list", "names, where they are, and until when they hold"],
  ],
};

const nameShape = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const longestValue = 64 * 1024;
/** Of stdin: what is a little too long is told by its length. */
const mostRead = 1024 * 1024;

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb, name] = given.words;
  if (verb !== "set" && verb !== "list" && verb !== "remove")
    throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "set, list or remove");
  if (verb !== "set" && (given.has("file") || given.has("expires"))) throw usage(spec, "--file and --expires go with set");
  const home = homeFolder(io.env, io.cwd);
  if (verb === "list") {
    if (name !== undefined) throw usage(spec, `unexpected word ${JSON.stringify(name)}`);
    return list(io, home);
  }
  if (name === undefined) throw usage(spec, `${verb} takes a name`);
  if (!nameShape.test(name))
    throw usage(spec, `${JSON.stringify(name)} is no name`, "letters, digits and _, as of an environment variable");
  return verb === "set" ? set(given, io, home, name) : remove(io, home, name);
}

async function set(given: Arguments, io: Io, home: string, name: string): Promise<number> {
  const expires = given.value("expires");
  const forMs = expires === undefined ? null : parseDuration(expires);
  if (expires !== undefined && forMs === null) throw usage(spec, `--expires ${JSON.stringify(expires)} is not a time such as 30m or 8h`);
  const typed =
    io.stdin.isTTY && canAsk(io, io.stderr) ? await readHidden(io, `value of ${name} (not shown): `) : await io.stdin.readAll(mostRead);
  const value = (typed ?? "").replace(/\r?\n$/, "");
  io.hide([value]);
  if (value === "") throw usage(spec, "there is no value", "give it on standard input, or type it");
  if (value.length > longestValue || value.includes("\0"))
    throw usage(spec, "this is no secret that could be kept: too long, or with a NUL");
  const keyring = given.has("file") ? null : await openKeyring(io.env, io.cwd);
  const expiresAt = forMs === null ? null : Date.now() + forMs;
  await changeHome(home, async () => {
    const kept = await readKeptSecrets(home);
    if (keyring !== null) await keyring.set(name, value);
    else if (kept[name]?.in === "keyring") await (await openKeyring(io.env, io.cwd))?.remove(name);
    await writeKept(home, { ...kept, [name]: keyring === null ? { in: "file", value, expiresAt } : { in: "keyring", expiresAt } });
  });
  io.stderr.write(`kept ${name} in ${keyring?.title ?? `${secretsPath(home)} (only you can read it)`}\n`);
  if (keyring === null && !given.has("file")) io.stderr.write("there is no keyring that could be used here\n");
  if (value.length < 8) io.stderr.write("it has fewer than 8 characters: it can't be taken out of texts, as it would hit ordinary words\n");
  return 0;
}

async function list(io: Io, home: string): Promise<number> {
  const kept = Object.entries(await readKeptSecrets(home));
  if (kept.length === 0) {
    io.stderr.write("no secrets are kept\n");
    return 0;
  }
  const rows = kept.map(([name, one]) => [name, one.in, until(one.expiresAt)]);
  io.stdout.write(`${table([["name", "where", "until"], ...rows], io.stdout.columns).join("\n")}\n`);
  return 0;
}

function until(expiresAt: number | null): string {
  if (expiresAt === null) return "";
  return `${new Date(expiresAt).toISOString()}${expiresAt <= Date.now() ? " (over)" : ""}`;
}

async function remove(io: Io, home: string, name: string): Promise<number> {
  await changeHome(home, async () => {
    const { [name]: found, ...rest } = await readKeptSecrets(home);
    if (found === undefined) throw new HoldfastError("usage", `no secret ${name} is kept`, { hint: "holdfast secrets list names them" });
    if (found.in === "keyring") await (await openKeyring(io.env, io.cwd))?.remove(name);
    await writeKept(home, rest);
  });
  io.stderr.write(`removed ${name}\n`);
  return 0;
}

export const command: Command = { ...spec, run };
