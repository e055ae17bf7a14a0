import { dirname, join } from "node:path";
import type { CodexOptions, ThreadEvent, ThreadOptions } from "@openai/codex-sdk";
import { Codex } from "@openai/codex-sdk";
import type { Script } from "../e2e/model-server.ts";
import type { Place } from "../e2e/run.ts";
import { createPlace } from "../e2e/run.ts";
import { assertThreadEvent } from "./events.ts";

const binFolder = join(import.meta.dirname, "../../../../node_modules/.bin");
export const bin = (name: string) => join(binFolder, name);
export const writes: ThreadOptions = { model: "gpt-5.1-codex", sandboxMode: "workspace-write" };

/** The environment is all that the program gets: nothing of Codex's or OpenAI's but what the SDK passes. */
export function environment(place: Place, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const path = `${binFolder}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  return { PATH: path, HOME: place.home, LANG: "C.UTF-8", HOLDFAST_HOME: join(place.home, ".holdfast"), ...more };
}

export function codexFor(place: Place, options: CodexOptions = {}): Codex {
  return new Codex({
    codexPathOverride: bin("holdfast"),
    baseUrl: place.server.baseUrl,
    apiKey: "key-of-the-program",
    env: environment(place),
    ...options,
  });
}

export async function setUp(script: Script, options: ThreadOptions = {}, codexOptions: CodexOptions = {}) {
  const place = await createPlace(script);
  const codex = codexFor(place, codexOptions);
  return { place, codex, thread: codex.startThread({ ...writes, workingDirectory: place.workspace, ...options }) };
}

export async function eventsOf(events: AsyncIterable<ThreadEvent>): Promise<ThreadEvent[]> {
  const all: ThreadEvent[] = [];
  for await (const event of events) {
    assertThreadEvent(event);
    all.push(event);
  }
  return all;
}

export const run = (command: string) => ({ name: "run_command", input: { command } });
