import type { TrustLabel } from "@holdfast/protocol";
import type { Around } from "./around.ts";
import { atMost, layOut } from "./layout.ts";
import { tokensOf } from "./tokens.ts";

/**
 * Where a text came from. `speaker`: words of the model count less than what a tool or a person said, and what it only tried to
 * do still less.
 */
export interface Origin {
  readonly seq: number;
  readonly itemId: string;
  readonly speaker: "user" | "tool" | "model" | "attempt" | "runtime";
  /** For people and the model: `run_command tail -n 40 x.log`, or "". */
  readonly from: string;
  readonly trust: TrustLabel;
  readonly at: number;
  /** What it shows, where that can change: real paths of files, or a note. */
  readonly of?: readonly string[];
  /** The handle by which the whole of an output can be read. */
  readonly output?: string;
}

/** A line that holds something exact, with what it belongs with. */
export interface ArchivedLine {
  readonly text: string;
  readonly origin: Origin;
  readonly number: number;
  readonly block: number;
  readonly place: TextPlace;
}

/** What the lines of one text share: the number of its first one, and which of them belong together; null where that is no longer known. */
interface TextPlace {
  readonly base: number;
  readonly around: Around | null;
}

/** Of a longer text both ends are taken in; of one with more lines both ends, and between them those that may hold something exact. */
const longestText = 4_000_000;
const mostLines = 60_000;
/** What a session may have. Beyond, the oldest outputs of tools keep some lines each that may hold something exact, or go. */
const mostOfSession = { lines: 250_000, chars: 30_000_000 };
const thinnedTo = 0.75;
const linesOfThinned = 200;

/** The lines of all texts of a session, and which of them hold a word. */
export interface Lines {
  readonly lines: readonly ArchivedLine[];
  readonly holders: ReadonlyMap<string, readonly number[]>;
  /** Whether something was let go. */
  readonly isThinned: boolean;
  /** Takes in a text as it came. Cost: linear in its length. */
  add(text: string, origin: Origin): void;
}

export function createLines(most: { readonly lines: number; readonly chars: number } = mostOfSession): Lines {
  const lines: ArchivedLine[] = [];
  const holders = new Map<string, number[]>();
  let chars = 0;
  let isThinned = false;

  const put = (text: string, origin: Origin, block: number, place: TextPlace): void => {
    const number = lines.push({ text, origin, number: lines.length, block, place }) - 1;
    chars += text.length;
    for (const token of tokensOf(text)) {
      const list = holders.get(token);
      if (list === undefined) holders.set(token, [number]);
      else list.push(number);
    }
  };

  const putAll = (texts: readonly (readonly ArchivedLine[])[]): void => {
    lines.length = 0;
    holders.clear();
    chars = 0;
    let block = 0;
    for (const text of texts) {
      const { around } = text[0]!.place;
      const first = text[0]!.block;
      const place = { base: lines.length, around };
      for (const line of text)
        put(line.text, line.origin, block + (around === null ? line.number - text[0]!.number : line.block - first), place);
      block = lines.at(-1)!.block + 1;
    }
  };

  const add = (text: string, origin: Origin): void => {
    const kept = text.length <= longestText ? text : `${text.slice(0, longestText / 2)}\n\n${text.slice(-longestText / 2)}`;
    const laid = layOut(kept, mostLines);
    const place = { base: lines.length, around: laid.around };
    const block = (lines.at(-1)?.block ?? -1) + 1;
    laid.lines.forEach((line, index) => put(line, origin, block + laid.blocks[index]!, place));
    if (lines.length <= most.lines && chars <= most.chars) return;
    isThinned = true;
    putAll(thinned(lines, most.lines * thinnedTo, most.chars * thinnedTo));
  };

  return {
    lines,
    holders,
    add,
    get isThinned() {
      return isThinned;
    },
  };
}

/** The texts that stay, each as its lines: the oldest outputs of tools become few lines, then they go, then any text, until there is room. */
function thinned(lines: readonly ArchivedLine[], mostLeft: number, mostChars: number): ArchivedLine[][] {
  const texts = [...Map.groupBy(lines, ({ place }) => place).values()];
  let count = lines.length;
  let chars = charsOf(lines);
  const rounds = [true, false].flatMap((isOfTools) => [linesOfThinned, 0].map((most) => ({ isOfTools, most })));
  for (const { isOfTools, most } of rounds) {
    for (const [at, text] of texts.entries()) {
      if (count <= mostLeft && chars <= mostChars) break;
      if (text.length <= most || (isOfTools && text[0]!.origin.speaker !== "tool")) continue;
      const few = most === 0 ? [] : someOf(text, most);
      count -= text.length - few.length;
      chars -= charsOf(text) - charsOf(few);
      texts[at] = few;
    }
  }
  return texts.filter((text) => text.length > 0);
}

function someOf(text: readonly ArchivedLine[], most: number): ArchivedLine[] {
  const place = { base: 0, around: null };
  return atMost(
    text.map((line) => line.text),
    most,
  ).map((line, number) => ({ text: line, origin: text[0]!.origin, number, block: 0, place }));
}

function charsOf(lines: readonly ArchivedLine[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0);
}
