import type { Item } from "@holdfast/protocol";
import { createJoined, type Joined } from "./joined.ts";
import type { Encoding, Piece, ReadImage } from "./window.ts";

/** What one item adds to a conversation in which two roles alternate. Each `string` is a block as the wire writes it. */
export type TurnPiece = Piece &
  (
    | { readonly type: "nothing" }
    | { readonly type: "text"; readonly block: string }
    /** Sent only with what it led to. */
    | { readonly type: "reasoning"; readonly block: string }
    /** `first`, where it differs, is the block of the first call in its turn. */
    | { readonly type: "call"; readonly callId: string; readonly name: string; readonly block: string; readonly first: string }
    /** Some wires name the called tool again in its result. `after` follows behind all results. */
    | { readonly type: "result"; readonly callId: string; block(name: string): string; readonly after: readonly string[] }
    | { readonly type: "user"; readonly blocks: readonly string[] }
  );

/** What one role says until the other one speaks. Results stand first, whatever was logged between them. */
export interface Turn {
  readonly role: "model" | "user";
  readonly results: string[];
  readonly blocks: string[];
}

export interface Turns {
  readonly closed: Joined;
  /** The latest turns, oldest first: the last one still grows, the user's carry marks. */
  readonly open: Turn[];
  /** Reasoning whose answer has not been seen yet. */
  waiting: string[];
  /** Names of the calls in the latest turn of the model, by id. */
  names: Map<string, string>;
}

export interface TurnStyle {
  encode(item: Item, image: ReadImage): TurnPiece | Promise<TurnPiece>;
  /** The turn as the wire's list has it. */
  write(turn: Turn, isMarked: boolean): readonly string[];
  /** How many of the user's latest turns are written with a mark. */
  readonly marked: number;
}

/**
 * Folds items into alternating turns. A turn is written for good once another one follows and it carries no mark any more;
 * so what a request begins with stays the same from step to step, marks apart. Reasoning that an answer ended with (cut by
 * its length) is dropped: strict servers refuse it.
 */
export function turnEncoding(style: TurnStyle): Encoding<TurnPiece, Turns> {
  return {
    encode: (item, image) => style.encode(item, image),
    start: () => ({ closed: createJoined(), open: [], waiting: [], names: new Map() }),
    add: (turns, piece) => addPiece(turns, piece, style),
    render: (turns, frame) =>
      turns.closed.body(
        frame,
        turns.open.flatMap((turn) => style.write(turn, turn.role === "user" && style.marked > 0)),
      ),
  };
}

function addPiece(turns: Turns, piece: TurnPiece, style: TurnStyle): void {
  switch (piece.type) {
    case "nothing":
      return;
    case "reasoning":
      turns.waiting.push(piece.block);
      return;
    case "text":
      modelTurn(turns, style).blocks.push(piece.block);
      return;
    case "call": {
      const turn = modelTurn(turns, style);
      turn.blocks.push(turns.names.size === 0 ? piece.first : piece.block);
      turns.names.set(piece.callId, piece.name);
      return;
    }
    case "result": {
      const turn = userTurn(turns, style);
      turn.results.push(piece.block(turns.names.get(piece.callId) ?? "unnamed"));
      turn.blocks.push(...piece.after);
      return;
    }
    case "user":
      userTurn(turns, style).blocks.push(...piece.blocks);
  }
}

function modelTurn(turns: Turns, style: TurnStyle): Turn {
  if (turns.open.at(-1)?.role !== "model") turns.names = new Map();
  const turn = turnOf("model", turns, style);
  turn.blocks.push(...turns.waiting);
  turns.waiting = [];
  return turn;
}

function userTurn(turns: Turns, style: TurnStyle): Turn {
  turns.waiting = [];
  return turnOf("user", turns, style);
}

/** The turn that a role's next block belongs to. Turns before it that need no mark are closed. */
function turnOf(role: Turn["role"], turns: Turns, { write, marked }: TurnStyle): Turn {
  const { open, closed } = turns;
  const last = open.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, results: [], blocks: [] };
  open.push(turn);
  while (open.length > 1 && (open[0]?.role === "model" || open.filter((one) => one.role === "user").length > marked)) {
    const oldest = open.shift();
    if (oldest !== undefined) for (const json of write(oldest, false)) closed.add(json);
  }
  return turn;
}
