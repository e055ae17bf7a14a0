import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { slashCommands } from "../line/slash.ts";
import type { PromptText } from "./parse.ts";
import { parsePrompt } from "./parse.ts";

export interface Prompt extends PromptText {
  readonly name: string;
  /** Whose it is: the person's own, or a trusted project's, whose words have no more authority than its instructions. */
  readonly from: "user" | "project";
  readonly path: string;
}

export interface FoundPrompts {
  /** Sorted by name, each name once. */
  readonly prompts: readonly Prompt[];
  /** Files that are no usable prompt, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
  /** Names of prompts in a project that is not trusted: they are not read. */
  readonly untrusted: readonly string[];
}

export interface PromptPlaces {
  readonly home: string;
  /** The project's top folder. */
  readonly root: string;
  readonly isTrusted: boolean;
}

const largestPrompt = 64 * 1024;
const mostPrompts = 200;
/** Names that are typed after a slash; leads to no other folder and hides nothing. */
const promptName = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** The prompts in `$HOLDFAST_HOME/prompts` and, where the project is trusted, in its `.holdfast/prompts`. A person's own come first. */
export async function findPrompts({ home, root, isTrusted }: PromptPlaces): Promise<FoundPrompts> {
  const own = await readFolder(join(home, "prompts"), "user");
  const folder = join(await realpath(root).catch(() => root), ".holdfast", "prompts");
  // A link on the way would lead to files that the project doesn't hold.
  const isReal = (await realpath(folder).catch(() => null)) === folder;
  if (!isTrusted) {
    const names = isReal ? (await namesIn(folder)).filter((name) => promptName.test(name.slice(0, -3))) : [];
    return { ...own, untrusted: names.map((name) => name.slice(0, -3)) };
  }
  const project = isReal ? await readFolder(folder, "project") : { prompts: [], refused: [] };
  const isHidden = (prompt: Prompt): boolean => own.prompts.some(({ name }) => name === prompt.name);
  return {
    prompts: [...own.prompts, ...project.prompts.filter((prompt) => !isHidden(prompt))].sort((a, b) => (a.name < b.name ? -1 : 1)),
    refused: [
      ...own.refused,
      ...project.refused,
      ...project.prompts.filter(isHidden).map(({ name, path }) => ({ path, why: `you have a prompt ${name} of your own` })),
    ],
    untrusted: [],
  };
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".md"))
    .sort()
    .slice(0, mostPrompts);
}

async function readFolder(folder: string, from: Prompt["from"]): Promise<Pick<FoundPrompts, "prompts" | "refused">> {
  const prompts: Prompt[] = [];
  const refused: FoundPrompts["refused"][number][] = [];
  for (const file of await namesIn(folder)) {
    const path = join(folder, file);
    const name = file.slice(0, -3);
    const text = await textOf(name, path, from);
    const parsed = text.type === "refused" ? null : parsePrompt(text.text);
    if (text.type === "refused") refused.push({ path, why: text.why });
    else if (parsed === null) refused.push({ path, why: "its front matter has no end (---)" });
    else if (parsed.body === "") refused.push({ path, why: "it is empty" });
    else prompts.push({ ...parsed, name, from, path });
  }
  return { prompts, refused };
}

type Text = { readonly type: "text"; readonly text: string } | { readonly type: "refused"; readonly why: string };

async function textOf(name: string, path: string, from: Prompt["from"]): Promise<Text> {
  const refuse = (why: string): Text => ({ type: "refused", why });
  if (!promptName.test(name)) return refuse("a name has a to z, 0 to 9, - and _ alone, at most 40");
  if (Object.hasOwn(slashCommands, name) || name === "exit" || name === "q") return refuse(`/${name} is a command of line mode`);
  // A person may link their own prompts from anywhere; a project's lie where they are.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (from === "project" ? constants.O_NOFOLLOW : 0);
  const file = await open(path, flags).catch(() => null);
  if (file === null) return refuse("it is a link, or can't be read");
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return refuse("it is no regular file");
    if (stat.size > largestPrompt) return refuse(`it has more than ${largestPrompt / 1024} kB`);
    return { type: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(await file.readFile()) };
  } catch {
    return refuse("it can't be read as UTF-8");
  } finally {
    await file.close();
  }
}
