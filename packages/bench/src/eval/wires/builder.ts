import type { Item, SessionEvent, ToolCall } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol";
import { loadWire } from "@holdfast/models/wires";
import type { Ports } from "@holdfast/runtime";
import { createRegisters, createWindow, emptyHead } from "@holdfast/runtime";
import { requestOf } from "@holdfast/runtime/drive/request";
import type { WireName } from "./server.ts";

/** Milliseconds a step, medians of the last 200 before an age of the session, in events. */
export interface BuilderTimes {
  readonly events: number;
  /** The request, from the session's state. */
  readonly built: number;
  /** With its bytes on the wire. */
  readonly encoded: number;
}

const measured = 200;
/** A step's intent, answer, decision, intent of the call and settlement. */
const eventsOfStep = 5;
const identity = { provider: "own", model: "gpt-5" };

/** The cost of a request at each age of a session; its window is all of it. `isStored`: each request follows on a kept answer. */
export async function timeBuilder(
  wire: WireName,
  { director, tools }: Pick<Ports, "director" | "tools">,
  ages: readonly number[],
  isStored = false,
): Promise<BuilderTimes[]> {
  const encoder = (await loadWire(wire))(identity, { isStored });
  const registers = createRegisters();
  registers.put([{ kind: "world", key: "environment", value: { id: "environment", trust: "tool", text: "Working folder: /work" } }]);
  const window = createWindow();
  const found: BuilderTimes[] = [];
  let events = 0;
  let kept: string | undefined;
  for (const age of ages) {
    const built: number[] = [];
    const encoded: number[] = [];
    for (; events < age; events += eventsOfStep) {
      for (const event of stepEvents(events, kept)) window.add(event);
      const isMeasured = age - events <= measured * eventsOfStep;
      if (!isMeasured && !isStored) continue;
      const began = performance.now();
      const request = requestOf({ head: emptyHead, registers }, director, {
        session: "ses_bench",
        tools: tools.specs,
        items: window.items,
        maxOutputTokens: null,
        image: async () => null,
      });
      const made = performance.now();
      kept = (await encoder.body(request)).window;
      if (!isMeasured) continue;
      built.push(made - began);
      encoded.push(performance.now() - began);
    }
    found.push({ events, built: median(built), encoded: median(encoded) });
  }
  return found;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** What one step brings to the window: an answer with a call, and its result. `kept`: what the answer's request held. */
function stepEvents(n: number, kept: string | undefined): SessionEvent[] {
  const callId = `call_${n}`;
  const call: ToolCall = {
    kind: "tool_call",
    id: `c${n}`,
    callId,
    name: "read_file",
    input: JSON.stringify({ path: `src/part-${n}.ts`, offset: n }),
    ...(kept === undefined ? {} : { opaque: { ...identity, payload: { call_id: callId, response_id: `resp_${n}`, window: kept } } }),
  };
  const text = `Now I look at part ${n}, as it follows from what the last one said.`;
  const result: Item & { kind: "tool_result" } = {
    kind: "tool_result",
    id: `r${n}`,
    callId,
    status: "completed",
    text: `line ${n} of the file\n`.repeat(20),
    trust: "tool",
  };
  return [
    {
      type: "sampling.settled",
      payload: {
        samplingId: `s${n}`,
        items: [{ kind: "assistant_message", id: `m${n}`, text }, call],
        usage: noUsage,
        cost: null,
        finish: "calls",
      },
    },
    {
      type: "call.settled",
      payload: { callId, outcome: { status: "completed", text: result.text, trust: "tool" }, result, judgement: null },
    },
  ];
}
