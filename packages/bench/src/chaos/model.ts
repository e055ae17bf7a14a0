import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dice } from "./dice.ts";
import type { Branch, Step } from "./work.ts";
import { lastWords } from "./work.ts";

interface Body {
  readonly input: readonly { readonly type?: string; readonly role?: string; readonly content?: unknown }[];
}

type Steps = Readonly<Record<Branch, readonly Step[]>>;

export interface ScriptedModel {
  /** The base URL for a place whose branches have these steps. `settled`: calls of a branch that are settled, where a request may not show them all. */
  serve(place: string, steps: Steps, settled?: (branch: Branch) => Promise<number>): string;
  /** Told of each request of a place as it arrives; replaces the listener before. */
  onRequest(place: string, listener: () => void): void;
  close(): void;
}

/**
 * A model behind the Responses wire that keeps nothing: what it answers follows from the request alone, so that a session
 * which lost an answer gets the same again. The branch is named in the prompt; each result of a call is one step further.
 */
export async function startModel(random: Dice): Promise<ScriptedModel> {
  const places = new Map<string, { readonly steps: Steps; readonly settled: ((branch: Branch) => Promise<number>) | undefined }>();
  const listeners = new Map<string, () => void>();
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const [, place = ""] = (request.url ?? "").split("/");
    const served = places.get(place);
    listeners.get(place)?.();
    if (served === undefined) throw new Error("a request of a place that isn't there");
    const text = Buffer.concat(chunks).toString("utf8");
    const { branch, results } = whereItStands(JSON.parse(text) as Body);
    const step = nextStep(served.steps[branch], (await served.settled?.(branch)) ?? results);
    await pause(random.whole(30));
    const fate = random.next();
    if (fate < 0.02) {
      response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"scripted fault","code":null}}');
      return;
    }
    const frames = framesOf(step, text.length);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frames.slice(0, 2).join(""));
    await pause(random.whole(15));
    if (fate < 0.04) response.destroy();
    else response.end(frames.slice(2).join(""));
  };
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    serve: (place, steps, settled) => {
      places.set(place, { steps, settled });
      return `${base}/${place}/v1`;
    },
    onRequest: (place, listener) => void listeners.set(place, listener),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The branch that a request is of, and the results that it shows. */
function whereItStands({ input }: Body): { readonly branch: Branch; readonly results: number } {
  // In the user's words, also where a shortened conversation keeps them; the repository's branch has the same name.
  const start = input.findLastIndex(
    ({ role, content }) => role !== undefined && /(?<!git, )branch (main|fork)/.test(JSON.stringify(content)),
  );
  const branch = /branch fork/.test(JSON.stringify(input[start]?.content)) ? "fork" : "main";
  return { branch, results: input.slice(start).filter((item) => item.type === "function_call_output").length };
}

/** Null where all is done. */
function nextStep(steps: readonly Step[], results: number): Step | null {
  let before = 0;
  for (const step of steps) {
    if (before >= results) return step;
    before += step.calls.length;
  }
  return null;
}

let answers = 0;

function framesOf(step: Step | null, chars: number): string[] {
  const n = (answers += 1);
  const message = {
    id: `msg_${n}`,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: lastWords, annotations: [] }],
  };
  const output =
    step === null
      ? [message]
      : step.calls.map(({ name, input }, index) => ({
          id: `fc_${n}_${index}`,
          type: "function_call",
          status: "completed",
          call_id: `c_${n}_${index}`,
          name,
          arguments: JSON.stringify(input),
        }));
  const tokens = Math.ceil(chars / 4);
  const usage = { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 };
  const response = { id: `resp_${n}`, object: "response", status: "completed", output, usage };
  const events: { readonly type: string; readonly [key: string]: unknown }[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, index) => [
      {
        type: "response.output_item.added",
        output_index: index,
        item: { ...item, status: "in_progress", ...("arguments" in item ? { arguments: "" } : { content: [] }) },
      },
      { type: "response.output_item.done", output_index: index, item },
    ]),
    { type: "response.completed", response },
  ];
  return events.map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`);
}
