import type { HoldfastError } from "@holdfast/protocol/error";
import { secretsOf } from "@holdfast/mcp/expand";
import type { Arguments } from "../../cli/command.ts";
import type { Io } from "../../cli/io.ts";
import { mcpJsonNotes } from "../../config/mcp-json.ts";
import { isTrusted } from "../../config/trust-store.ts";
import type { Workspace } from "../../config/workspace.ts";
import { findWorkspace } from "../../config/workspace.ts";
import type { Servers } from "../../mcp/servers.ts";
import { serversOf } from "../../mcp/servers.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import type { Setup } from "../../session/start.ts";
import { openSetup, setupFor } from "../../session/start.ts";

/** What one of the `mcp` commands gets: the words behind its own. */
export interface McpCall {
  readonly given: Arguments;
  readonly io: Io;
  readonly words: readonly string[];
  readonly wrong: (what: string, hint?: string) => HoldfastError;
}

/** The servers that a session in this folder would have. What the project's `.mcp.json` has and they lack is told. */
export async function serversHere(io: Io): Promise<Servers & { readonly setup: Setup; readonly workspace: Workspace }> {
  const base = await openSetup(io);
  const workspace = await findWorkspace(".", io.cwd, io.env);
  const setup = await setupFor(base, workspace.root, await isTrusted(base.home, workspace.root));
  for (const note of mcpJsonNotes(setup.loaded.problems, workspace.root)) io.stderr.write(`note: ${sanitizeLine(note)}\n`);
  const servers = await serversOf(setup.config, setup.home, workspace.root);
  // A server may say its key back, for one where it tells why it can't start.
  io.hide(servers.usable.flatMap(({ config }) => secretsOf(config, io.env)));
  return { ...servers, setup, workspace };
}
