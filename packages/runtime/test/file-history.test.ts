import type { InspectedAction } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changesOf, type Doer, type FileState, inOrder, stateAt } from "../src/inspect/file-history.ts";

interface Told {
  readonly states: FileState[];
  readonly edits: Doer[];
  readonly commands: Doer[];
  /** Who really changed the file last; null: nobody did. */
  truth: string | null;
  seq: number;
  content: number;
}

const steps = {
  /** Says itself what it changed. */
  edit: (told: Told) => {
    const doer = begin(told, "edit");
    told.edits.push(doer);
    told.states.push({ seq: told.seq, digest: `${told.content}` });
    change(told, doer.action.callId);
    told.states.push({ seq: told.seq, digest: `${told.content}`, by: doer.action.callId });
  },
  idle: (told: Told) => void told.commands.push(begin(told, "command")),
  command: (told: Told) => {
    const doer = begin(told, "command");
    told.commands.push(doer);
    change(told, doer.action.callId);
  },
  /** Goes on when its call has long returned. */
  running: (told: Told) => void told.commands.push({ ...begin(told, "command"), to: Number.POSITIVE_INFINITY }),
  outside: (told: Told) => change(told, "outside"),
  look: (told: Told) => void told.states.push({ seq: (told.seq += 1), digest: `${told.content}` }),
} as const;

function begin(told: Told, tool: string): Doer {
  const from = (told.seq += 1);
  const to = (told.seq += 1);
  return { from, to, turn: 1, action: { callId: `${tool} ${from}` } as InspectedAction };
}

function change(told: Told, who: string): void {
  told.content += 1;
  told.truth = who;
}

test("whoever is named changed the file, and where it isn't known all are named that can have", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[])), { maxLength: 25 }), (names) => {
      const told: Told = { states: [{ seq: 0, digest: "0" }], edits: [], commands: [], truth: null, seq: 0, content: 0 };
      for (const name of names) steps[name](told);
      told.states.push({ seq: Number.POSITIVE_INFINITY, digest: `${told.content}` });
      const found = changesOf(inOrder(told.states), told.commands, [...told.edits, ...told.commands]).at(-1);
      const named = found?.doers.map(({ action }) => action.callId) ?? [];
      if (found === undefined) expect(told.truth).toBeNull();
      else if (found.after.by !== undefined) expect(named).toEqual([told.truth]);
      else if (named.length === 0) expect(told.truth).toBe("outside");
      else expect([...named, "outside"]).toContain(told.truth);
    }),
  );
});

test("what a file was at an event is told only where what was seen before and after agrees", () => {
  const states: FileState[] = [
    { seq: 2, digest: "a" },
    { seq: 6, digest: "a" },
    { seq: 9, digest: null },
  ];
  expect([1, 2, 4, 6, 7, 9, 10].map((seq) => stateAt(states, seq))).toEqual([undefined, "a", "a", "a", undefined, null, undefined]);
});
