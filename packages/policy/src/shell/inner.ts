import type { ShellAssignment, ShellWord } from "./command.ts";

/** What a command runs besides itself. */
export type Inner =
  | { readonly type: "words"; readonly words: readonly ShellWord[]; readonly assignments: readonly ShellAssignment[] }
  | { readonly type: "line"; readonly line: ShellWord }
  /** Code that can't be read before it runs. */
  | { readonly type: "hidden"; readonly what: string };

export interface Unwrapped {
  readonly inner: readonly Inner[];
  /** True where running `inner` is all that it does. */
  readonly isTransparent: boolean;
  /** True where `inner` runs in a folder that isn't known. */
  readonly losesPlace: boolean;
  /** The folder in which `inner` runs: `env -C folder`. */
  readonly movesTo?: ShellWord;
}

export interface Input {
  readonly hereText: string | null;
  /** A here-document that isn't literal. */
  readonly hasUnknownHere: boolean;
  readonly isPiped: boolean;
  /** `< file`, and `<&3`. */
  readonly fromFile: boolean;
  /** True where anything at all is opened for reading, under whatever number. */
  readonly isGiven: boolean;
}

export const nothing: Unwrapped = { inner: [], isTransparent: false, losesPlace: false };

export const asWords = (words: readonly ShellWord[], assignments: readonly ShellAssignment[] = []): Inner => ({
  type: "words",
  words,
  assignments,
});
export const hidden = (what: string): Unwrapped => ({ inner: [{ type: "hidden", what }], isTransparent: false, losesPlace: false });

export function lineOf(word: ShellWord, program: string): Inner {
  return word.literal === null
    ? { type: "hidden", what: `${program} runs text that only exists at run time` }
    : { type: "line", line: word };
}

/** Names of what a program is given as its input. */
export const isInput = /^\/(?:dev\/(?:stdin|fd\/0)|proc\/(?:self|thread-self)\/fd\/0)$/;
