import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { lookThrough } from "@holdfast/node/files/missing";
import type { Skill } from "@holdfast/harness/skills/skill";
import type { SkillFile, SkillLibrary } from "@holdfast/harness/skills/skill-tools";
import type { WorldSection } from "@holdfast/protocol";
import { isWithin } from "../config/workspace.ts";
import type { FoundSkills, SkillCache } from "./find.ts";
import type { SkillSetting } from "./places.ts";
import { candidates, skillPlaces } from "./places.ts";

/** Bytes of a skill's file that are read. */
const mostBytes = 4 * 1024 * 1024;
const mostFiles = 200;
const deepest = 6;

export interface SkillOptions extends SkillSetting {
  readonly isTrusted: boolean;
  readonly disabled: readonly string[];
  /** Tokens that the names and descriptions may have in a request. */
  readonly budget: number;
}

export interface Skills extends SkillLibrary {
  find(): Promise<FoundSkills>;
  /** What the model is told of them at the start of a turn. */
  sections(isTrusted: boolean): Promise<WorldSection[]>;
  /** Another text where a skill came or went, or one that was loaded has changed. A few looks at the file system. */
  mark(): string;
}

/** The skills of a session. Where there are none, a few looks for folders are all that is done. */
export function openSkills(options: SkillOptions): Skills {
  const cache: SkillCache = new Map();
  const find = async (isTrusted: boolean): Promise<FoundSkills> => {
    const places = await skillPlaces(options);
    if (places.length === 0) return { skills: [], unread: [], faulty: [] };
    return (await import("./find.ts")).findSkills(places, isTrusted, options.disabled, cache);
  };
  const loaded = new Map<string, string>();
  const watched = new Set(candidates(options).map(({ path }) => path));
  return {
    find: () => find(options.isTrusted),
    loaded({ name, body, folder }) {
      loaded.set(name, body);
      watched.add(join(folder, "SKILL.md"));
    },
    mark: () => [...watched].map(stampOf).join("\n"),
    async sections(isTrusted) {
      const { skills, unread } = await find(isTrusted);
      if (skills.length === 0 && unread.length === 0) return [];
      const { skillSections, changedSkill } = await import("@holdfast/harness/skills/catalogue");
      const changed = skills.flatMap((skill) => {
        const body = loaded.get(skill.name);
        return body === undefined ? [] : (changedSkill(skill, body, isTrusted) ?? []);
      });
      const untrusted = unread.map(({ name }) => name);
      return [...skillSections({ skills, untrusted, isTrusted, budget: options.budget }), ...changed];
    },
    files: listFiles,
    file: readSkillFile,
  };
}

function stampOf(path: string): string {
  const stat = lookThrough(path);
  return stat === undefined ? "" : `${stat.size} ${stat.mtimeMs} ${stat.ino}`;
}

async function listFiles({ folder }: Skill): Promise<{ paths: string[]; isWhole: boolean }> {
  const paths: string[] = [];
  let isWhole = true;
  const walk = async (below: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.name.startsWith(".") || entry.name === "node_modules" || path === "SKILL.md") continue;
      if (paths.length >= mostFiles || depth > deepest) {
        isWhole = false;
        return;
      }
      if (entry.isDirectory()) await walk(path, depth + 1);
      else if (entry.isFile() || (await isInside(folder, path))) paths.push(path);
    }
  };
  await walk("", 0);
  return { paths, isWhole };
}

async function isInside(folder: string, path: string): Promise<boolean> {
  const real = await realpath(join(folder, path)).catch(() => null);
  return real !== null && isWithin(folder, real);
}

async function readSkillFile({ folder }: Skill, path: string): Promise<SkillFile> {
  const refuse = (why: string): SkillFile => ({ type: "refused", why });
  const real = await realpath(join(folder, path)).catch(() => null);
  if (real === null) return refuse("there is no such file in the skill");
  if (!isWithin(folder, real)) return refuse("it leads out of the skill's folder, and is not read");
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return refuse("it can't be read");
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return refuse("it is no regular file");
    const bytes = Buffer.alloc(Math.min(stat.size, mostBytes));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const read = bytes.subarray(0, bytesRead);
    if (read.includes(0)) return refuse(`it is no text; a command can use it at ${real}`);
    const text = new TextDecoder().decode(read);
    return { type: "text", text, chars: stat.size > bytesRead ? stat.size : text.length };
  } finally {
    await handle.close();
  }
}
