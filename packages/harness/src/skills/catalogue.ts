import type { WorldSection } from "@holdfast/protocol";
import { lineDifference } from "../context/tell.ts";
import { describeSkills, describeUntrustedSkills, skillChanged } from "../text/v1.ts";
import type { Skill } from "./skill.ts";
import { trustOfSkill } from "./skill.ts";

/** A description cut shorter than this says nothing. */
const shortestDescription = 24;
/** What a token is taken to have, in bytes of UTF-8. */
const tokenBytes = 4;
/** What stands around the lines. */
const overhead = 300;
/** Names alone say little: where there is no room for descriptions they get less, and the search does the rest. */
const mostNames = 1_000;
/** Names of untrusted skills that are told. */
const mostUntrusted = 20;
const longestDifference = 4_000;

export interface CatalogueInput {
  /** Those that come first matter most. */
  readonly skills: readonly Skill[];
  /** Names of a project's skills that is not trusted. */
  readonly untrusted: readonly string[];
  readonly isTrusted: boolean;
  /** Tokens that all sections may have together. */
  readonly budget: number;
}

/**
 * What the model is told of skills at the start of a turn: names, with as much of the descriptions as the budget lets. Where
 * not even the names fit, the first ones, and that the rest can be searched for. Nothing where there are no skills. Pure.
 */
export function skillSections({ skills, untrusted, isTrusted, budget }: CatalogueInput): WorldSection[] {
  const isOwn = ({ from }: Skill): boolean => from === "user";
  const ordered = [...skills.filter(isOwn), ...skills.filter((skill) => !isOwn(skill))];
  const lines = fit(ordered, budget * tokenBytes);
  const more = ordered.length - lines.size;
  const section = (id: string, own: readonly Skill[], isLast: boolean): WorldSection[] => {
    if (own.length === 0) return [];
    const shown = own.flatMap((skill) => lines.get(skill) ?? []);
    const context = { kind: "skills" as const, source: sourceOf(own), reason: "names and descriptions of the skills that can be loaded" };
    return [{ id, trust: trustOfSkill(own[0]!, isTrusted), text: describeSkills(shown, isLast ? more : 0), context }];
  };
  const others = ordered.filter((skill) => !isOwn(skill));
  return [
    ...section("skills", ordered.filter(isOwn), others.length === 0),
    ...section("skills:project", others, true),
    ...untrustedSection(untrusted),
  ];
}

/** What is told of a skill whose words changed after the model loaded it. Null where they are the same. Pure. */
export function changedSkill(skill: Skill, loaded: string, isTrusted: boolean): WorldSection | null {
  if (skill.body === loaded) return null;
  const difference = lineDifference(loaded, skill.body);
  const text = skillChanged(skill.name, difference.length <= longestDifference ? difference : null);
  const context = { kind: "skills" as const, source: skill.folder, reason: "the skill changed after it was loaded" };
  return { id: `skill-changes:${skill.name}`, trust: trustOfSkill(skill, isTrusted), text, context };
}

function untrustedSection(names: readonly string[]): WorldSection[] {
  if (names.length === 0) return [];
  const context = { kind: "skills" as const, source: "the project", reason: "skills that are not read, for the project is not trusted" };
  const text = describeUntrustedSkills(names.slice(0, mostUntrusted), names.length);
  return [{ id: "skills:untrusted", trust: "untrusted", text, context }];
}

/** The folders that they lie in. */
function sourceOf(skills: readonly Skill[]): string {
  return [...new Set(skills.map(({ folder }) => folder.slice(0, folder.lastIndexOf("/"))))].join(", ");
}

/** The line of each skill that is shown. */
function fit(skills: readonly Skill[], bytes: number): ReadonlyMap<Skill, string> {
  const room = bytes - overhead;
  const sizes = skills.map(({ description }) => bytesOf(description));
  // In JSON a line's end has two characters.
  const names = skills.reduce((sum, { name }) => sum + name.length + "- : ".length + 2, 0);
  const most = evenShare(sizes, room - names);
  if (most >= shortestDescription || sizes.every((size) => size <= most)) {
    return new Map(skills.map((skill) => [skill, `- ${skill.name}: ${cut(skill.description, most)}`]));
  }
  let left = Math.min(room, mostNames - overhead);
  return new Map(skills.flatMap((skill) => ((left -= skill.name.length + 4) >= 0 ? [[skill, `- ${skill.name}`] as const] : [])));
}

/** The size up to which each may go, so that all together have at most `room`. */
function evenShare(sizes: readonly number[], room: number): number {
  let left = room;
  const sorted = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return Infinity;
}

function cut(text: string, bytes: number): string {
  if (bytesOf(text) <= bytes) return text;
  let end = Math.min(text.length, bytes);
  while (end > 0 && bytesOf(text.slice(0, end)) > bytes - 3) end -= 1;
  return `${text.slice(0, end).toWellFormed().trimEnd()}…`;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
