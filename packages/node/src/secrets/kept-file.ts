import { readFileSync } from "node:fs";
import { HoldfastError } from "@holdfast/protocol/error";

/** A value as it is kept, by name: where it is, and until when it holds, ms. */
export interface KeptSecret {
  readonly in: "file" | "keyring";
  /** The value itself, where it is kept in this file. */
  readonly value?: string;
  readonly expiresAt: number | null;
}
export type KeptSecrets = Readonly<Record<string, KeptSecret>>;

/** Nothing where there is no such file. Throws `config_invalid` for one that can't be read, without a word of its content. */
export function readKept(path: string): KeptSecrets {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new HoldfastError("config_invalid", `${path} can't be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  const secrets = parse(text);
  if (secrets === null)
    throw new HoldfastError("config_invalid", `${path} is not what holdfast secrets writes`, {
      hint: "move it away, and set the secrets again",
    });
  return secrets;
}

function parse(text: string): KeptSecrets | null {
  try {
    const found = (JSON.parse(text) as { readonly version?: unknown; readonly secrets?: unknown }) ?? {};
    if (found.version !== 1 || typeof found.secrets !== "object" || found.secrets === null) return null;
    const isWhole = Object.values(found.secrets).every(
      (one: Partial<KeptSecret> | null) => one?.in === "keyring" || typeof one?.value === "string",
    );
    return isWhole ? (found.secrets as KeptSecrets) : null;
  } catch {
    return null;
  }
}

export function keptText(secrets: KeptSecrets): string {
  return `${JSON.stringify({ version: 1, secrets }, null, 2)}\n`;
}
