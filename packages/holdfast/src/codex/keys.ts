import { keys } from "../config/keys.ts";
import type { Leaf } from "./leaves.ts";
import { approvedTools, isApproval, mcpLeaves, providerLeaf } from "./servers.ts";

/** What a program's Codex config comes to here. */
export interface CodexWishes {
  /** Codex's own name of the model, and the provider it belongs to. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly effort: string | null;
  readonly sandbox: string | null;
  readonly approvals: "ask" | "deny" | null;
  readonly takesNetwork: boolean | null;
  readonly folders: readonly string[];
  /** Of the model, by Holdfast's key. */
  readonly modelFacts: Readonly<Record<string, unknown>>;
  /** Keys of Holdfast's own config. */
  readonly leaves: readonly Leaf[];
  /** What has no meaning here, or another one; a sentence each. Values are never in them. */
  readonly notes: readonly string[];
  /** Keys that only take something away: a run without them would be looser than what was asked for. */
  readonly refused: readonly string[];
}

const modelFacts: Readonly<Record<string, string>> = {
  model_context_window: "context_window",
  model_max_output_tokens: "max_output",
};
const refused: readonly string[] = ["default_permissions", "permissions"];
const efforts: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/**
 * Reads values of a Codex config, later ones over earlier ones. Keys of Holdfast's own config pass as they are; nothing
 * here gives a run more than the same value gives one of Codex.
 */
export function readCodexKeys(given: readonly Leaf[]): CodexWishes {
  const leaves: Leaf[] = [];
  const notes = new Set<string>();
  const wishes = { model: null, provider: null, effort: null, sandbox: null, approvals: null, takesNetwork: null } as {
    -readonly [key in "model" | "provider" | "effort" | "sandbox" | "approvals" | "takesNetwork"]: CodexWishes[key];
  };
  const facts: Record<string, unknown> = {};
  const folders: string[] = [];
  const forbidden: string[] = [];

  for (const leaf of given) {
    const { path, value } = leaf;
    const name = path.join(".");
    const [first = ""] = path;
    const text = typeof value === "string" ? value : null;
    const unknown = (): void => void notes.add(`${name} means nothing here and is ignored`);
    if (name === "model") wishes.model = text;
    else if (name === "model_provider") wishes.provider = text;
    else if (name === "model_reasoning_effort") wishes.effort = effortOf(text, notes) ?? wishes.effort;
    else if (name === "sandbox_mode") wishes.sandbox = text;
    else if (name === "approval_policy") wishes.approvals = approvalsOf(text, notes);
    else if (name === "sandbox_workspace_write.network_access") wishes.takesNetwork = value === true;
    else if (name === "sandbox_workspace_write.writable_roots" && Array.isArray(value)) folders.push(...value.map(String));
    else if (name === "openai_base_url") leaves.push({ path: ["providers", "openai", "base_url"], value });
    else if (name === "model_auto_compact_token_limit") leaves.push({ path: ["compaction", "trigger_tokens"], value });
    else if (Object.hasOwn(modelFacts, name)) facts[modelFacts[name] ?? name] = value;
    else if (name === "web_search" || name === "tools.web_search" || name === "features.web_search_request") {
      leaves.push(...searchLeaves(value, notes));
    } else if (first === "mcp_servers") {
      const mapped = isApproval(leaf) ? [] : mcpLeaves(leaf);
      if (mapped === null) unknown();
      else leaves.push(...mapped);
    } else if (first === "model_providers") {
      const mapped = providerLeaf(leaf);
      if (mapped !== null) leaves.push(mapped);
      else if (path[2] !== "name") unknown();
    } else if (refused.includes(first)) forbidden.push(name);
    else if (Object.hasOwn(keys, first)) leaves.push(leaf);
    else unknown();
  }
  leaves.push(...approvedTools(given.filter(({ path }) => path[0] === "mcp_servers")));
  return { ...wishes, folders, modelFacts: facts, leaves, notes: [...notes], refused: forbidden };
}

function effortOf(text: string | null, notes: Set<string>): string | null {
  if (text !== null && efforts.includes(text)) return text;
  if (text === "max" || text === "ultra") {
    notes.add(`model_reasoning_effort ${text} is taken as xhigh, the highest there is here`);
    return "xhigh";
  }
  notes.add("model_reasoning_effort is not a level known here and is ignored");
  return null;
}

function approvalsOf(text: string | null, notes: Set<string>): "ask" | "deny" {
  if (text === "on-request" || text === "on-failure") return "ask";
  if (text === "untrusted") {
    notes.add("approval_policy untrusted: what the policy can't prove harmless waits for a person; commands in the sandbox don't");
    return "ask";
  }
  if (text !== "never") notes.add("approval_policy is not one known here: what needs a person is refused");
  return "deny";
}

/** `web_search` is there where the user's config names a search service. */
function searchLeaves(value: unknown, notes: Set<string>): Leaf[] {
  if (value === "disabled" || value === false) return [{ path: ["web", "search", "enabled"], value: false }];
  notes.add("web_search is there where [web.search] of your config names a service");
  return [];
}
