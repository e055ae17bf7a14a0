import { HoldfastError } from "@holdfast/protocol/error";
import { nearest } from "../cli/nearest.ts";
import { expandPrompt } from "./expand.ts";
import type { FoundPrompts } from "./find.ts";

/** What is said to the model, and the lowest authority that had a part in it. */
export interface Said {
  readonly text: string;
  readonly trust: "user" | "project";
  /** What the person said to it, where it is a project's: their own words go before it, as theirs. */
  readonly own?: string;
}

/** What is sent, one message each: whose words they are decides whether they bind. Pure. */
export function inputsOf({ text, trust, own }: Said): readonly { readonly text: string; readonly trust: Said["trust"] }[] {
  return own === undefined
    ? [{ text, trust }]
    : [
        { text: own, trust: "user" },
        { text, trust },
      ];
}

/** `/name args`; null for any other text. A path such as `/etc/hosts` is none. Pure. */
export function readCall(text: string): { readonly name: string; readonly args: string } | null {
  const match = /^\/([a-z0-9][a-z0-9_-]*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return match === null ? null : { name: match[1] ?? "", args: match[2] ?? "" };
}

/** The words of a reusable prompt with its arguments. Throws `usage` where there is none of that name. Pure. */
export function sayPrompt(found: FoundPrompts, name: string, args: string): Said {
  const prompt = found.prompts.find((one) => one.name === name);
  if (prompt !== undefined) return { text: expandPrompt(name, prompt, args), trust: prompt.from };
  if (found.untrusted.includes(name)) {
    throw new HoldfastError("usage", `the prompt /${name} is this project's, which is not trusted`, {
      hint: "read it, then trust the project: holdfast trust",
    });
  }
  const near = nearest(
    name,
    found.prompts.map((one) => one.name),
  );
  throw new HoldfastError("usage", `there is no prompt /${name}`, {
    hint: `${near === null ? "" : `did you mean /${near}? `}holdfast prompts lists them; to say just that to the model, pipe it: echo "/${name} …" | holdfast exec -`,
  });
}
