import { realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { nearest } from "../cli/nearest.ts";
import { usage } from "../cli/parse.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import { renderFaults, renderSkills } from "../render/skills.ts";
import type { FaultySkill } from "../skills/find.ts";
import { skillsHere } from "../skills/here.ts";

const spec: CommandSpec = {
  name: "skills",
  summary: "Lists the skills that can be used here, shows one, or says what is wrong with them.",
  usage: ["holdfast skills [list] [--json]", "holdfast skills show NAME", "holdfast skills validate [PATH…] [--json]"],
  flags: { json: { kind: "boolean", help: "one JSON object a line" } },
  words: { min: 0, max: 100, named: "list, show or validate" },
  notes: [
    "A skill is a folder NAME with a file SKILL.md (agentskills.io): in $HOLDFAST_HOME/skills, ~/.agents/skills, or .agents/skills of the project, from its root down to this folder. Packages in node_modules count where [skills] packages names them. Of two with one name the first of this order is used; within the project the one nearest to this folder.",
    "validate looks at the skills of this folder, or at those named: folders of a skill, folders of skills, or SKILL.md files. It exits 1 where one is against the specification.",
  ],
  examples: [
    ["holdfast skills", "the skills of this folder, whose they are, and what isn't used"],
    ["holdfast skills validate .agents/skills", "checks a project's skills, with file and line of each fault"],
    ['holdfast exec "/release-notes for 2.1"', "loads the skill release-notes and asks for something; $release-notes does the same"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb = "list", ...words] = given.words;
  if (verb === "validate") return validate(words, given.has("json"), io);
  if (verb === "show" && words.length !== 1) throw usage(spec, "show takes a skill's name");
  if (verb === "list" && words.length > 0) throw usage(spec, `unexpected word ${JSON.stringify(words[0])}`);
  if (verb !== "list" && verb !== "show") throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "list, show NAME or validate");
  const { skills: library } = await skillsHere(".", io);
  const found = await library.find();
  if (verb === "list") {
    if (given.has("json")) {
      for (const { body: _, ...skill } of found.skills) io.stdout.write(jsonLine({ type: "skill", ...skill, isUsable: true }));
      for (const { body: _, ...skill } of found.unread) io.stdout.write(jsonLine({ type: "skill", ...skill, isUsable: false }));
      for (const one of found.faulty) io.stdout.write(jsonLine({ type: "skill.faulty", ...one }));
      return 0;
    }
    const { lines, remarks } = renderSkills(found, io.stdout.columns);
    if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
    if (remarks.length > 0) io.stderr.write(`${remarks.join("\n")}\n`);
    return 0;
  }
  const all = [...found.skills, ...found.unread];
  const skill = all.find(({ name }) => name === words[0]);
  if (skill === undefined) {
    const near = nearest(
      words[0]!,
      all.map(({ name }) => name),
    );
    throw usage(
      spec,
      `there is no skill ${JSON.stringify(words[0])}`,
      near === null ? "holdfast skills lists them" : `did you mean ${near}?`,
    );
  }
  const files = await library.files(skill);
  if (given.has("json")) {
    io.stdout.write(jsonLine({ type: "skill", ...skill, isUsable: found.skills.includes(skill), files: files.paths }));
    return 0;
  }
  const facts = [
    ["whose", found.skills.includes(skill) ? (skill.from === "user" ? "yours" : skill.from) : "this project's, which is not trusted"],
    ["what", skill.description],
    ...(skill.compatibility === null ? [] : [["needs", skill.compatibility]]),
    ...(skill.license === null ? [] : [["licence", skill.license]]),
    ...(skill.allowedTools.length === 0 ? [] : [["asks for", `${skill.allowedTools.join(" ")} (allows nothing: your rules hold)`]]),
    ...(files.paths.length === 0 ? [] : [["files", `${files.paths.join(", ")}${files.isWhole ? "" : ", …"}`]]),
  ];
  io.stdout.write(
    `${sanitizeLine(skill.folder)}\n${facts.map(([key, value]) => `${key}: ${sanitizeLine(value!)}\n`).join("")}\n${sanitize(skill.body)}\n`,
  );
  return 0;
}

async function validate(paths: readonly string[], isJson: boolean, io: Io): Promise<number> {
  const { checked, faulty } = paths.length === 0 ? await ofThisFolder(io) : await named(paths, io);
  if (isJson)
    for (const { path, faults } of faulty) for (const fault of faults) io.stdout.write(jsonLine({ type: "skill.fault", path, ...fault }));
  else {
    io.stdout.write(
      renderFaults(faulty, io.cwd)
        .map((line) => `${line}\n`)
        .join(""),
    );
    const bad = faulty.filter(({ faults }) => faults.some(({ severity }) => severity === "error")).length;
    io.stdout.write(`${checked} ${checked === 1 ? "skill" : "skills"} checked, ${bad === 0 ? "none" : bad} against the specification\n`);
  }
  return faulty.some(({ faults }) => faults.some(({ severity }) => severity === "error")) ? 1 : 0;
}

interface Checked {
  readonly checked: number;
  readonly faulty: readonly FaultySkill[];
}

async function ofThisFolder(io: Io): Promise<Checked> {
  const { skills } = await skillsHere(".", io);
  const { skills: usable, unread, faulty } = await skills.find();
  const stopped = faulty.filter(({ faults }) => faults.some(({ stops }) => stops)).length;
  return { checked: usable.length + unread.length + stopped, faulty };
}

/** Each path is a skill's folder, its SKILL.md, or a folder of skills. */
async function named(paths: readonly string[], io: Io): Promise<Checked> {
  const { readSkillFolder, findSkills } = await import("../skills/find.ts");
  const faulty: FaultySkill[] = [];
  let checked = 0;
  for (const path of paths) {
    const given = resolve(io.cwd, path);
    const found = await stat(given).catch(() => null);
    if (found === null) throw new HoldfastError("usage", `there is no file or folder ${given}`);
    const folder = found.isDirectory() ? given : dirname(given);
    const one = await readSkillFolder(folder, null);
    if (one !== null) {
      checked += 1;
      if (one.read.faults.length > 0) faulty.push({ path: one.path, faults: one.read.faults });
      continue;
    }
    if (!found.isDirectory()) throw new HoldfastError("usage", `${given} is no SKILL.md`);
    const real = await realpath(given);
    const below = await findSkills([{ path: real, from: "project", within: real }], true);
    checked += below.skills.length + below.faulty.filter(({ faults }) => faults.some(({ stops }) => stops)).length;
    faulty.push(...below.faulty);
    if (below.skills.length === 0 && below.faulty.length === 0) {
      throw new HoldfastError("usage", `there is no skill in ${given}`, {
        hint: `a skill is a folder with a file SKILL.md: ${basename(given)}/NAME/SKILL.md`,
      });
    }
  }
  return { checked, faulty };
}

export const command: Command = { ...spec, run };
