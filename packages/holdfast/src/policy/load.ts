import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Rule } from "@holdfast/policy";
import { policyFolder } from "./allowed-file.ts";
import type { GatheredPolicy, PolicyFile, PolicyPlace } from "./policy-file.ts";

/** Where an organisation puts its rules. `HOLDFAST_POLICY` names a further file of the same authority. */
export const organisationPath = "/etc/holdfast/policy.toml";

export function projectPolicyPath(project: string): string {
  return join(project, ".holdfast", "policy.toml");
}

/**
 * All rules beside the built-in ones. Throws `policy_invalid` for the first thing that is wrong: a rule that isn't
 * understood may be one that refuses, so nothing runs without it.
 */
export async function loadPolicy(place: PolicyPlace): Promise<readonly Rule[]> {
  const { rules, problems } = await gatherPolicy(place);
  const [first, ...more] = problems;
  if (first === undefined) return rules;
  const hint = [first.hint, more.length === 0 ? undefined : `${more.length} more: holdfast policy test`].filter((one) => one !== undefined);
  throw new HoldfastError("policy_invalid", `${first.where}: ${first.message}`, hint.length === 0 ? {} : { hint: hint.join("; ") });
}

/** The same with everything that is wrong, rules that are right none the less. */
export async function gatherPolicy(place: PolicyPlace): Promise<GatheredPolicy> {
  const { files, notes } = await findFiles(place);
  if (files.length === 0) return { rules: [], problems: [], notes, files: [] };
  const { readFiles } = await import("./read-files.ts");
  return { ...(await readFiles(files, place)), notes };
}

/** Files that there are, in the order of their authority. A file of a project that nobody trusts isn't opened. */
async function findFiles({ home, project, isTrusted, env }: PolicyPlace): Promise<{ files: PolicyFile[]; notes: string[] }> {
  const own = project === null ? null : projectPolicyPath(project);
  const [hasOrganisation, user, hasProject] = await Promise.all([
    exists(organisationPath),
    userFiles(home),
    own === null ? false : exists(own),
  ]);
  const named = env["HOLDFAST_POLICY"];
  const files: PolicyFile[] = [];
  const notes: string[] = [];
  if (hasOrganisation) files.push({ path: organisationPath, authority: "organisation" });
  if (named) files.push({ path: resolve(named), authority: "organisation", isRequired: true });
  for (const path of user) files.push({ path, authority: "user" });
  if (own !== null && project !== null && hasProject) {
    if (isTrusted) files.push({ path: own, authority: "project", inside: project });
    else notes.push(`${own}: ignored: this project is not trusted (holdfast trust)`);
  }
  return { files, notes };
}

async function exists(path: string): Promise<boolean> {
  // What can't be looked at is opened, and then told.
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
}

async function userFiles(home: string): Promise<string[]> {
  const folder = policyFolder(home);
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(".toml") && !name.startsWith("."))
      .toSorted()
      .map((name) => join(folder, name));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw new HoldfastError("policy_invalid", `${folder} can't be read`, { hint: "check its permissions", cause: error });
  }
}
