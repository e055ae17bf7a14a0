import { homedir } from "node:os";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/config.ts";
import { homeFolder } from "../config/home.ts";
import { isTrusted } from "../config/trust-store.ts";
import type { Workspace } from "../config/workspace.ts";
import { findWorkspace } from "../config/workspace.ts";
import type { Skills } from "./library.ts";
import { openSkills } from "./library.ts";

type Env = Readonly<Record<string, string | undefined>>;

interface Here {
  readonly home: string;
  readonly env: Env;
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly isTrusted: boolean;
}

/** The skills of a session with this config. */
export function skillsOf({ skills: { packages, disabled, budgetTokens } }: Config, { env, ...here }: Here): Skills {
  return openSkills({ ...here, userHome: env["HOME"] || homedir(), packages, disabled, budget: budgetTokens });
}

/** The skills that a session in this folder would have. */
export async function skillsHere(
  folder: string,
  { cwd, env }: { readonly cwd: string; readonly env: Env },
  trustsProject = false,
): Promise<{ readonly skills: Skills; readonly workspace: Workspace; readonly isTrusted: boolean; readonly config: Config }> {
  const home = homeFolder(env, cwd);
  const workspace = await findWorkspace(folder, cwd, env);
  const trusted = trustsProject || (await isTrusted(home, workspace.root));
  const { config } = await loadConfig({ home, project: workspace.root, isTrusted: trusted, env });
  const here = { home, env, roots: [workspace.root], cwd: workspace.cwd, isTrusted: trusted };
  return { skills: skillsOf(config, here), workspace, isTrusted: trusted, config };
}
