import type { CallOutcome, CallPlan, Json, TrustLabel } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import type { Tool } from "@holdfast/runtime";
import { fieldsOf } from "../discovery/fields.ts";
import { informationOnly, introduceSkill } from "../text/v1.ts";
import type { Skill } from "./skill.ts";
import { trustOfSkill } from "./skill.ts";

/** A file of a skill as text, from a character on; or why it can't be read. */
export type SkillFile =
  | { readonly type: "text"; readonly text: string; readonly chars: number }
  | { readonly type: "refused"; readonly why: string };

/** The skills of a session, as they are now. */
export interface SkillLibrary {
  /** Those that can be used, and those of a project that is not trusted: told apart by `isTrusted`. */
  find(): Promise<{ readonly skills: readonly Skill[]; readonly unread: readonly Skill[] }>;
  /** Files below the skill's folder beside its SKILL.md, by their relative paths; links that lead out are left out. */
  files(skill: Skill): Promise<{ readonly paths: readonly string[]; readonly isWhole: boolean }>;
  file(skill: Skill, path: string): Promise<SkillFile>;
  /** The model has this skill's words now: it is to be told when they change. */
  loaded(skill: Skill): void;
}

/** Characters of a file that one call gives. */
const mostChars = 30_000;
const mostFound = 8;

/** `read_skill`: a skill's instructions, or a file of it. */
export function readSkillTool(library: SkillLibrary): Tool {
  const wrong =
    "read_skill takes {name, file?, offset?}: the name of a skill, a file of it by its relative path, the character to begin at.";
  return {
    isDeferred: true,
    isUnnamed: true,
    spec: {
      name: "read_skill",
      description: "Load the instructions of a skill before work that it is for; or one of its files.",
      schema: {
        type: "object",
        properties: { name: { type: "string" }, file: { type: "string" }, offset: { type: "integer", minimum: 0 } },
        required: ["name"],
      },
    },
    async plan(input) {
      const { name, file, offset = 0 } = fieldsOf(input);
      const isWrong = typeof name !== "string" || (file !== undefined && typeof file !== "string") || !Number.isSafeInteger(offset);
      if (isWrong || (offset as number) < 0) return { type: "refused", text: wrong };
      const summary = file === undefined || file === "" ? `Load the skill ${name}` : `Read ${file} of the skill ${name}`;
      return planOf({ name, offset, ...(file === undefined || file === "" ? {} : { file }) }, summary, name);
    },
    async run({ plan }) {
      const { name, file, offset } = fieldsOf(plan.input) as { name: string; file?: string; offset: number };
      const { skills, unread } = await library.find();
      const skill = skills.find((one) => one.name === name) ?? unread.find((one) => one.name === name);
      if (skill === undefined) return failed(`There is no skill ${JSON.stringify(name)}; search_skills finds skills by words.`);
      const trust = trustOfSkill(skill, skills.includes(skill));
      if (file === undefined) library.loaded(skill);
      return file === undefined ? whole(library, skill, offset, trust) : oneFile(library, skill, file, offset, trust);
    },
  };
}

async function whole(library: SkillLibrary, skill: Skill, offset: number, trust: TrustLabel): Promise<CallOutcome> {
  const { paths, isWhole } = await library.files(skill);
  const head = offset > 0 ? [] : [introduceSkill(skill), ...(trust === "untrusted" ? [informationOnly] : [])];
  const files = paths.length === 0 ? [] : [`Files (read_skill with "file"): ${paths.join(", ")}${isWhole ? "" : ", …"}`];
  return {
    status: "completed",
    text: [...head, ...(offset > 0 ? [] : files), "", part(skill.body, offset, skill.body.length)].join("\n"),
    trust,
  };
}

async function oneFile(library: SkillLibrary, skill: Skill, file: string, offset: number, trust: TrustLabel): Promise<CallOutcome> {
  const found = await library.file(skill, file);
  if (found.type === "refused") return { ...failed(`${file}: ${found.why}`), trust: lowestTrust("tool", trust) };
  const text = part(found.text, offset, found.chars);
  return { status: "completed", text: trust === "untrusted" ? `${informationOnly}\n\n${text}` : text, trust };
}

function part(text: string, offset: number, all: number): string {
  const shown = text.slice(offset, offset + mostChars).toWellFormed();
  const end = offset + shown.length;
  if (offset >= text.length && offset > 0) return `[It ends at character ${text.length}]`;
  return end >= all
    ? shown
    : `${shown}\n[Cut: characters ${offset} to ${end} of ${all}${end < text.length ? `; go on with offset ${end}` : ""}]`;
}

/** `search_skills`: names and descriptions that fit words, of all skills here. */
export function searchSkillsTool(library: SkillLibrary): Tool {
  return {
    isDeferred: true,
    isUnnamed: true,
    spec: {
      name: "search_skills",
      description: "Find skills (instructions for kinds of work) by words about the work; an empty query lists all.",
      schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    async plan(input) {
      const { query = "" } = fieldsOf(input);
      if (typeof query !== "string") return { type: "refused", text: "search_skills takes {query}: a few words about the work." };
      return planOf({ query }, query.trim() === "" ? "List skills" : `Find skills: ${query}`, "*");
    },
    async run({ plan }) {
      const { query } = fieldsOf(plan.input) as { query: string };
      const { skills } = await library.find();
      const found = query.trim() === "" ? skills : await matching(query, skills);
      if (found.length === 0)
        return { status: "completed", text: `No skill fits these words; there are ${skills.length}.`, trust: "system" };
      const lines = found.map(({ name, description }) => `- ${name}: ${description}`);
      let left = mostChars;
      const shown = lines.filter((line) => (left -= line.length) >= 0);
      const rest = shown.length < lines.length ? [`[${lines.length - shown.length} more; search with words]`] : [];
      const trust = lowestTrust(...found.map((skill) => trustOfSkill(skill, true)));
      return { status: "completed", text: [...shown, ...rest, "Load one with read_skill."].join("\n"), trust };
    },
  };
}

/** By the ranking of tools: a name counts most. */
async function matching(query: string, skills: readonly Skill[]): Promise<Skill[]> {
  const [{ indexTools }, { rankTools }] = await Promise.all([import("../discovery/tool-index.ts"), import("../discovery/rank.ts")]);
  const index = indexTools(skills.map(({ name, description }) => ({ name, server: "", description, schema: {} })));
  return rankTools(index, query, mostFound).map(({ tool }) => skills[index.tools.indexOf(tool)]!);
}

/** What it reads is no file for the policy to judge: the library gives files of skills, and no others. */
function planOf(input: Json, summary: string, name: string): CallPlan {
  return { input, summary, reads: [`skill:${name}`], writes: [], workspace: "none", replay: "safe", changesWorkspace: false };
}

function failed(text: string): CallOutcome {
  return { status: "failed", text, trust: "tool" };
}

/** What is asked, then the skill: the first words are the goal and the session's title. */
export function sayReadSkill(skill: Skill, args: string): string {
  const asked = args.trim() === "" ? `Use the skill ${skill.name}.` : args.trim();
  return [asked, "", introduceSkill(skill), "", skill.body].join("\n");
}
