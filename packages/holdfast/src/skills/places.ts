import { realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillSource } from "@holdfast/harness/skills/skill";
import { isWithin } from "../config/workspace.ts";

/** A folder that holds folders of skills. */
export interface SkillPlace {
  readonly path: string;
  readonly from: SkillSource;
  /** What its skills may not lead out of: the workspace's root; null for a person's own, which may be links to anywhere. */
  readonly within: string | null;
}

export interface SkillSetting {
  readonly home: string;
  readonly userHome: string;
  /** Real paths. The first is the project's. */
  readonly roots: readonly string[];
  readonly cwd: string;
  /** Packages in the project's node_modules whose skills the person wants. */
  readonly packages: readonly string[];
}

/**
 * Where there are skills, those that hide others first: a person's own, then the project's from the working folder up to its
 * root, then packages. One look a place.
 */
export async function skillPlaces(setting: SkillSetting): Promise<SkillPlace[]> {
  const found = await Promise.all(candidates(setting).map(async (place) => ((await isFolder(place.path)) ? place : null)));
  const places = await Promise.all(found.flatMap((place) => (place === null ? [] : [settle(place, setting.roots)])));
  return places.filter(({ path }, index) => places.findIndex((other) => other.path === path) === index);
}

/** Where there may be skills, whether or not there are any. */
export function candidates({ home, userHome, roots, cwd, packages }: SkillSetting): SkillPlace[] {
  const root = roots.find((one) => isWithin(one, cwd)) ?? cwd;
  const folders = [cwd];
  while (folders.at(-1) !== root) folders.push(dirname(folders.at(-1)!));
  return [
    { path: join(home, "skills"), from: "user", within: null },
    { path: join(userHome, ".agents", "skills"), from: "user", within: null },
    ...folders.map((folder): SkillPlace => ({ path: join(folder, ".agents", "skills"), from: "project", within: root })),
    ...packages.flatMap((name) => {
      const folder = join(root, "node_modules", name);
      return [join(folder, "skills"), join(folder, ".agents", "skills")].map((path): SkillPlace => ({
        path,
        from: "package",
        within: root,
      }));
    }),
  ];
}

/** What lies in the workspace can be written by whatever works there: it is the project's, whoever's home it is in. */
async function settle(place: SkillPlace, roots: readonly string[]): Promise<SkillPlace> {
  const path = await realpath(place.path).catch(() => place.path);
  const within = roots.find((root) => isWithin(root, path));
  if (place.from !== "user" || within === undefined) return { ...place, path };
  return { path, from: "project", within };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}
