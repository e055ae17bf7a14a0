import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { readSkillText } from "@holdfast/harness/skills/read-skill-text";
import type { ReadSkill, Skill, SkillFault } from "@holdfast/harness/skills/skill";
import { isWithin } from "../config/workspace.ts";
import type { SkillPlace } from "./places.ts";

/** A skill that isn't used, or isn't as it should be, and where. */
export interface FaultySkill {
  /** Its SKILL.md, or its folder where there is none. */
  readonly path: string;
  readonly faults: readonly SkillFault[];
}

export interface FoundSkills {
  /** Each name once, in the order of their places and then by name. */
  readonly skills: readonly Skill[];
  /** Skills of a project that is not trusted. */
  readonly unread: readonly Skill[];
  readonly faulty: readonly FaultySkill[];
}

/** What was read of a file that is as it was. */
export type SkillCache = Map<string, { readonly stamp: string; readonly read: ReadSkill }>;

/** Bytes of a SKILL.md. */
const largestSkill = 256 * 1024;
/** Of one place: skills, and characters of them together. A repository that has more is made to take time. */
const mostSkills = 1_024;
const mostChars = 8_000_000;
/** Files that are open at once. */
const atOnce = 32;

/** The skills of these places. `cache` is kept by whoever asks again. */
export async function findSkills(
  places: readonly SkillPlace[],
  isTrusted: boolean,
  disabled: readonly string[] = [],
  cache: SkillCache = new Map(),
): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const unread = new Map<string, Skill>();
  const faulty: FaultySkill[] = [];
  const each = await Promise.all(places.map(async (place) => ({ place, found: await skillsIn(place, cache) })));
  for (const { place, found } of each) {
    const into = place.from === "user" || isTrusted ? skills : unread;
    for (const { path, folder, read } of found) {
      const { text } = read;
      const faults = [...read.faults];
      const other = text === null ? undefined : (skills.get(text.name) ?? into.get(text.name));
      if (text !== null && other !== undefined) {
        faults.push({
          line: 1,
          severity: "warning",
          message: `not used: ${other.folder} has the same name and goes before it`,
          stops: true,
        });
      } else if (text !== null && !disabled.includes(text.name)) into.set(text.name, { ...text, from: place.from, folder });
      if (faults.length > 0) faulty.push({ path, faults });
    }
  }
  return { skills: [...skills.values()], unread: [...unread.values()], faulty };
}

interface FoundFile {
  readonly path: string;
  readonly folder: string;
  readonly read: ReadSkill;
}

async function skillsIn({ path, within }: SkillPlace, cache: SkillCache): Promise<FoundFile[]> {
  if (within !== null && !isWithin(within, path)) return [refused(path, `it leads out of the project, to ${path}`)];
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => !entry.name.startsWith(".") && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => name)
    .sort();
  const read: FoundFile[] = [];
  let chars = 0;
  for (let at = 0; at < names.length; at += atOnce) {
    if (at >= mostSkills || chars > mostChars)
      return [...read, refused(path, `only the first ${at} of its ${names.length} folders are read`)];
    const some = await Promise.all(names.slice(at, at + atOnce).map((name) => readSkillFolder(join(path, name), within, cache)));
    read.push(...some.flatMap((one) => one ?? []));
    chars += some.reduce((sum, one) => sum + (one?.read.text?.body.length ?? 0), 0);
  }
  return read;
}

/** The skill of one folder; null where the folder holds none. `within`: what it may not lead out of. */
export async function readSkillFolder(path: string, within: string | null, cache: SkillCache = new Map()): Promise<FoundFile | null> {
  const folder = await realpath(path).catch(() => null);
  if (folder === null) return refused(path, "it is a link to nothing");
  if (within !== null && !isWithin(within, folder)) return refused(path, `it is a link that leads out of the project, to ${folder}`);
  const file = join(folder, "SKILL.md");
  const real = await realpath(file).catch(() => null);
  if (real === null) {
    const other = (await readdir(folder).catch(() => [])).find((name) => name.toLowerCase() === "skill.md");
    return other === undefined ? null : refused(join(folder, other), "it must be called SKILL.md");
  }
  if (!isWithin(folder, real)) return refused(file, "it is a link that leads out of the skill's folder");
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return refused(file, "it can't be read");
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return refused(file, "it is no regular file");
    if (stat.size > largestSkill) return refused(file, `it has more than ${largestSkill / 1024} kB`);
    const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
    const known = cache.get(file);
    if (known?.stamp === stamp) return { path: file, folder, read: known.read };
    const read = readSkillText(new TextDecoder("utf-8", { fatal: true }).decode(await handle.readFile()), basename(path));
    cache.set(file, { stamp, read });
    return { path: file, folder, read };
  } catch {
    return refused(file, "it can't be read as UTF-8");
  } finally {
    await handle.close();
  }
}

function refused(path: string, message: string): FoundFile {
  return { path, folder: path, read: { text: null, faults: [{ line: 1, severity: "error", message, stops: true }] } };
}
