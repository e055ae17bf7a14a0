import { parseArgs } from "node:util";
import { HoldfastError } from "@holdfast/protocol/error";
import type { CommandSpec, FlagSpec } from "../cli/command.ts";
import { parseOverride } from "../config/override.ts";
import type { CodexWishes } from "./keys.ts";
import { readCodexKeys } from "./keys.ts";
import type { Leaf } from "./leaves.ts";
import { leavesOf, overrideOf } from "./leaves.ts";

export interface Translated {
  /** For `holdfast exec`, flags first. */
  readonly argv: readonly string[];
  /** Worth telling, a sentence each. */
  readonly notes: readonly string[];
}

/** Flags of Codex that Holdfast has no use for, with whether they take a value and why they are left out. */
const leftOut: Readonly<Record<string, { readonly kind: FlagSpec["kind"]; readonly note?: string }>> = {
  "skip-git-repo-check": { kind: "boolean" },
  "thread-source": { kind: "string", note: "--thread-source means nothing here and is ignored" },
  "cyber-access-program": { kind: "string", note: "--cyber-access-program means nothing here and is ignored" },
};
const keyVariable = "CODEX_API_KEY";

/**
 * What `@openai/codex-sdk` starts (`exec --experimental-json …`) in the words of `holdfast exec`. Flags of Holdfast pass as
 * they are, so that a wrapper can add some. Throws `usage` for what can be neither taken over nor left out.
 */
export async function fromCodex(
  spec: CommandSpec,
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Translated> {
  const flags = { ...spec.flags, ...leftOut };
  const { tokens } = parseArgs({
    args: [...given],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { kind, ...flag }]) => {
        const short = "short" in flag && flag.short !== undefined ? { short: flag.short } : {};
        return [name, { type: kind === "boolean" ? "boolean" : "string", ...short } as const];
      }),
    ),
  });
  const own: string[] = [];
  const words: string[] = [];
  const config: Leaf[] = [];
  const byFlag: Leaf[] = [];
  const notes: string[] = [];
  const named = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { name, value, rawName } = token;
    const skipped = Object.hasOwn(leftOut, name) ? leftOut[name] : undefined;
    if (skipped?.note !== undefined) notes.push(skipped.note);
    if (skipped !== undefined) continue;
    if (name === "config" && value !== undefined) config.push(...leavesOf((await parseOverride(value)).tree));
    else if (name === "model" && value !== undefined) byFlag.push({ path: ["model"], value });
    else if (name === "sandbox" && value !== undefined) byFlag.push({ path: ["sandbox_mode"], value });
    else {
      named.add(name);
      own.push(...(value === undefined ? [rawName] : [`--${name}=${value}`]));
    }
  }
  // A flag counts for more than the config, wherever it stands.
  const wishes = readCodexKeys([...config, ...byFlag]);
  const [forbidden] = wishes.refused;
  if (forbidden !== undefined) {
    throw new HoldfastError("usage", `${forbidden} of Codex's config can't be kept here, and leaving it out would allow more`, {
      hint: "say it with sandboxMode, networkAccessEnabled and approvalPolicy, or with Holdfast's own keys",
    });
  }
  const network = networkOf(wishes);
  return {
    argv: [...own, ...argvOf(wishes, named), ...network.argv, ...keyOf(wishes, env), ...withPrompt(words, named)],
    notes: [...notes, ...wishes.notes, ...network.notes],
  };
}

/** Flags that a wrapper gave itself stand. */
function argvOf(
  { model, provider, effort, sandbox, approvals, folders, modelFacts, leaves }: CodexWishes,
  named: ReadonlySet<string>,
): string[] {
  const flag = (name: string, value: string | null): string[] => (value === null || named.has(name) ? [] : [`--${name}=${value}`]);
  const full = model === null ? null : fullName(model, provider);
  const facts = full === null ? [] : Object.entries(modelFacts).map(([key, value]) => ({ path: ["model", full, key], value }));
  return [
    ...flag("model", full),
    ...flag("effort", effort),
    ...flag("sandbox", sandbox === "danger-full-access" ? "off" : sandbox),
    ...flag("approvals", approvals),
    ...folders.map((folder) => `--add-dir=${folder}`),
    ...[...facts, ...leaves].map(({ path, value }) => `--config=${overrideOf(path, value)}`),
  ];
}

/** Codex names OpenAI's models without a provider. */
function fullName(model: string, provider: string | null): string {
  if (provider !== null) return `${provider}/${model}`;
  return model.includes("/") || /^(?:script|replay):/.test(model) ? model : `openai/${model}`;
}

/** In Codex the network is a matter of workspace-write alone: read-only has none, and without a sandbox it is open. */
function networkOf({ takesNetwork, sandbox }: CodexWishes): { readonly argv: string[]; readonly notes: string[] } {
  if (takesNetwork === null) return { argv: [], notes: [] };
  if (!takesNetwork) return { argv: ["--config=sandbox.allow_net=[]"], notes: [] };
  if (sandbox === "workspace-write") return { argv: ["--allow-net=all"], notes: [] };
  const notes = sandbox === "danger-full-access" ? [] : ["network access counts only together with the sandbox workspace-write"];
  return { argv: [], notes };
}

/** The key that the program gave its SDK counts for more than one that is configured. */
function keyOf({ leaves }: CodexWishes, env: Readonly<Record<string, string | undefined>>): string[] {
  const isGiven = leaves.some(
    ({ path: [first, name, key = ""] }) => first === "providers" && name === "openai" && key.startsWith("api_key"),
  );
  return env[keyVariable] && !isGiven ? [`--config=${overrideOf(["providers", "openai", "api_key_env"], keyVariable)}`] : [];
}

/** The SDK writes the prompt to standard input, also of a thread that goes on. */
function withPrompt(words: readonly string[], named: ReadonlySet<string>): string[] {
  const before = words[0] !== "resume" ? 0 : named.has("last") ? 1 : 2;
  return words.length > before ? [...words] : [...words, "-"];
}
