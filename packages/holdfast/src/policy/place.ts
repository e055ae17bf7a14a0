import { homedir } from "node:os";
import type { Arguments } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { homeFolder } from "../config/home.ts";
import { isTrusted } from "../config/trust-store.ts";
import type { Workspace } from "../config/workspace.ts";
import { findWorkspace } from "../config/workspace.ts";
import type { PolicyPlace } from "./policy-file.ts";

/** Where `holdfast policy` looks, as its flags say. */
export async function placeOf(given: Arguments, io: Io): Promise<{ place: PolicyPlace; workspace: Workspace }> {
  const home = homeFolder(io.env, io.cwd);
  const workspace = await findWorkspace(given.value("cd") ?? ".", io.cwd, io.env);
  const trusted = given.has("trust-project") || (await isTrusted(home, workspace.root));
  const place = { home, userHome: io.env["HOME"] || homedir(), project: workspace.root, isTrusted: trusted, env: io.env };
  return { place, workspace };
}
