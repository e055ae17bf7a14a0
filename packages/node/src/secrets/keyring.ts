import { spawn } from "node:child_process";
import { once } from "node:events";
import { HoldfastError } from "@holdfast/protocol/error";
import { findProgram } from "../sandbox/programs.ts";

/** The keyring of the machine, by name. A value goes over standard input and output alone: nobody sees it among the processes. */
export interface Keyring {
  /** What it is, for people. */
  readonly title: string;
  set(name: string, value: string): Promise<void>;
  /** Null where it holds none of this name. */
  get(name: string): Promise<string | null>;
  remove(name: string): Promise<void>;
}

const service = "holdfast";

export interface KeyringPlace {
  readonly platform: NodeJS.Platform;
  /** Where its program is looked for: a path without folders of a workspace. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Null where the machine has none that can be used from here. */
export function findKeyring({ platform, path, env }: KeyringPlace): Keyring | null {
  const program = findProgram(platform === "darwin" ? "security" : "secret-tool", path);
  if (program === null || (platform !== "darwin" && !env["DBUS_SESSION_BUS_ADDRESS"] && !env["XDG_RUNTIME_DIR"])) return null;
  const run = (args: readonly string[], input = "") => runKeyring(program, args, input, env);
  return platform === "darwin" ? macKeyring(run) : secretService(run);
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
}
type Run = (args: readonly string[], input?: string) => Promise<Ran>;

function secretService(run: Run): Keyring {
  const named = (name: string) => ["service", service, "name", name];
  return {
    title: "the keyring (secret service)",
    async set(name, value) {
      // It takes the value to the end of its input, line breaks and all.
      if ((await run(["store", `--label=Holdfast: ${name}`, ...named(name)], value)).code !== 0) throw refused("keep", name);
    },
    async get(name) {
      const { code, out } = await run(["lookup", ...named(name)]);
      return code === 0 && out !== "" ? out : null;
    },
    async remove(name) {
      await run(["clear", ...named(name)]);
    },
  };
}

/** `security` shows what isn't ASCII as hex: it is given base64. Its commands are read from its input, so no value is an argument. */
function macKeyring(run: Run): Keyring {
  return {
    title: "the keychain",
    async set(name, value) {
      const kept = Buffer.from(value, "utf8").toString("base64");
      const { code } = await run(["-i"], `add-generic-password -U -s ${service} -a ${name} -w ${kept}\n`);
      if (code !== 0) throw refused("keep", name);
    },
    async get(name) {
      const { code, out } = await run(["find-generic-password", "-s", service, "-a", name, "-w"]);
      return code === 0 ? Buffer.from(out.trim(), "base64").toString("utf8") : null;
    },
    async remove(name) {
      await run(["delete-generic-password", "-s", service, "-a", name]);
    },
  };
}

const longestMs = 60_000;

async function runKeyring(program: string, args: readonly string[], input: string, env: KeyringPlace["env"]): Promise<Ran> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env: { ...env }, timeout: longestMs });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code, out: Buffer.concat(chunks).toString("utf8") };
  } catch {
    return { code: null, out: "" };
  }
}

function refused(what: string, name: string): HoldfastError {
  return new HoldfastError("store_failed", `the keyring did not ${what} ${name}`, {
    hint: "is it unlocked? holdfast secrets set --file keeps it in a file",
  });
}
