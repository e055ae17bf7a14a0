import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Json } from "@holdfast/protocol";
import { changeHome } from "./change.ts";
import { writeAtomically } from "./home.ts";

/** What of a project runs only after a person accepted it, word for word. */
export type DefinitionKind = "mcp" | "hook";

/** Definitions that a person accepted, by the project's real path and the definition's hash: `mcp` or `hook`, and when. */
type AcceptStore = Readonly<Record<string, Readonly<Record<string, { readonly kind: DefinitionKind; readonly at: string }>>>>;

export function acceptPath(home: string): string {
  return join(home, "accepted.json");
}

/** SHA-256, hex, over the kind and the definition's canonical JSON: any change makes it another definition. */
export function definitionHash(kind: DefinitionKind, definition: Json): string {
  return createHash("sha256")
    .update(canonical([kind, definition]))
    .digest("hex");
}

/** Exactly this definition, in exactly this project. Throws `config_invalid` where the store is damaged. */
export async function isAccepted(home: string, kind: DefinitionKind, projectRoot: string, definition: Json): Promise<boolean> {
  const project = (await readAccepted(home))[await realpath(projectRoot)];
  const hash = definitionHash(kind, definition);
  return project !== undefined && Object.hasOwn(project, hash) && project[hash]?.kind === kind;
}

export async function accept(home: string, kind: DefinitionKind, projectRoot: string, definition: Json, at: Date): Promise<void> {
  const root = await realpath(projectRoot);
  const entry = { [definitionHash(kind, definition)]: { kind, at: at.toISOString() } };
  await changeHome(home, async () => {
    const store = await readAccepted(home);
    await write(home, { ...store, [root]: { ...store[root], ...entry } });
  });
}

/** Forgets all that was accepted of a project: it is trusted no longer. */
export async function forgetAccepted(home: string, projectRoot: string): Promise<void> {
  // A folder that is gone has the path it had.
  const root = await realpath(projectRoot).catch(() => projectRoot);
  await changeHome(home, async () => {
    const { [root]: found, ...rest } = await readAccepted(home);
    if (found !== undefined) await write(home, rest);
  });
}

async function readAccepted(home: string): Promise<AcceptStore> {
  const path = acceptPath(home);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new HoldfastError("config_invalid", `can't read ${path}`, { hint: "check its permissions", cause: error });
  }
  try {
    const parsed = JSON.parse(text) as { version?: unknown; accepted?: unknown };
    if (parsed.version === 1 && isStore(parsed.accepted)) return parsed.accepted;
  } catch {
    // Told below, as any other content that isn't such a store.
  }
  throw new HoldfastError("config_invalid", `${path} is damaged`, { hint: "delete it and accept again with holdfast trust" });
}

function isStore(value: unknown): value is AcceptStore {
  const isRecord = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null && !Array.isArray(one);
  return isRecord(value) && Object.values(value).every((project) => isRecord(project) && Object.values(project).every(isRecord));
}

async function write(home: string, accepted: AcceptStore): Promise<void> {
  await writeAtomically(acceptPath(home), `${JSON.stringify({ version: 1, accepted }, null, 2)}\n`, 0o600);
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner as Json)}`).join(",")}}`;
}
