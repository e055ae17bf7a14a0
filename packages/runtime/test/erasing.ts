import { openFileBlobs } from "@holdfast/stores/file-blobs";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { BlobStore, Log, Ports, Tool } from "../src/index.ts";
import { createSession, drive, findChainFault, post, readSession } from "../src/index.ts";
import { itemChars } from "../src/kernel/change.ts";
import type { Head } from "../src/kernel/state.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, done, portsOf, say, testCheck, testSettings } from "./kit.ts";

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const disposals: (() => void)[] = [];
afterEach(() => {
  for (const dispose of disposals.splice(0)) dispose();
});

/** What a person would find who searches the store: everything kept of all sessions and blobs, as text. */
export interface Store {
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly contents: () => Promise<string>;
}

export function memoryStore(): Store {
  const { log, blobs } = createWorld({ model: createTestModel(() => ({})) });
  const stored = new Set<string>();
  const put = async (content: Uint8Array): Promise<string> => {
    const id = await blobs.put(content);
    stored.add(id);
    return id;
  };
  const contents = async (): Promise<string> => {
    const kept = await Promise.all([...stored].map((id) => blobs.get(id)));
    const texts = kept.map((content) => new TextDecoder().decode(content ?? new Uint8Array()));
    for (const { session, seq } of await log.list({})) {
      texts.push(JSON.stringify([await log.load(session), await log.read(session, 1), await log.inbox(session)]));
      for (let at = 1; at <= seq; at += 1) texts.push(JSON.stringify(await log.snapshot(session, at)));
    }
    return texts.join("\n");
  };
  return { log, blobs: { ...blobs, put }, contents };
}

export function sqliteStore(): Store {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-erase-"));
  const log = openSqliteLog({ path: join(folder, "sessions.db"), durability: "normal" });
  disposals.push(() => {
    void log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const contents = async (): Promise<string> =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");
  return { log, blobs: openFileBlobs(join(folder, "blobs")), contents };
}

/** The words that only one item brought, and that stand nowhere but in it and its copies. */
export const words = {
  prompt: ["prompt-words", "picture-words"],
  thought: ["first-words"],
  edit: ["edit-words", "shown-words", "after-words", "before-words", "/w/seen-words"],
  edited: ["edited-words", "before-words", "after-words", "/w/seen-words"],
  command: ["command-words", "task-words", "unmet-words"],
  ran: ["ran-words"],
  steering: ["later-words"],
  last: ["last-words"],
  notice: ["the check failed"],
} as const;
export type Name = keyof typeof words;
export const names = Object.keys(words) as Name[];
export const allWords = [...new Set(Object.values(words).flat())];

function editTool(blobs: BlobStore): Tool {
  const tool = createTestTool({
    name: "edit",
    changesWorkspace: true,
    run: async () =>
      done("edited-words", {
        seen: [{ path: "/w/seen-words", digest: "d" }],
        changed: [
          { path: "/w/seen-words", beforeDigest: "b", afterDigest: "d", before: await blobs.put(bytes("before-words")), beforeMode: null },
        ],
      }),
  });
  return {
    ...tool,
    prepare: async () => {
      const ids = [await blobs.put(bytes("before-words")), await blobs.put(bytes("after-words"))];
      const manifest = await blobs.put(bytes(JSON.stringify(ids)));
      return { prepared: { manifest }, blobs: [...ids, manifest] };
    },
  };
}

/** A session with two turns that has an item of every kind and every copy of one that a turn makes. */
export async function makeSession(store: Store): Promise<{ ports: Ports; session: string; requests: readonly unknown[] }> {
  const edit = editTool(store.blobs);
  const bash = createTestTool({
    name: "bash",
    exclusive: true,
    command: "npm ci",
    run: async ({ callId }) =>
      done("ran-words", {
        exitCode: 0,
        task: { id: "task-1", callId, kind: "command", title: "task-words", ref: "r" },
      }),
  });
  const planned: Tool = {
    ...bash,
    plan: async (input, context) => ({
      ...((await bash.plan(input, context)) as Extract<Awaited<ReturnType<Tool["plan"]>>, { summary: string }>),
      command: "command-words",
      expect: { outputContains: "unmet-words" } as never,
    }),
  };
  const model = createTestModel((index) => {
    if (index === 0)
      return {
        text: "first-words",
        calls: [
          { name: "edit", input: "edit-words" },
          { name: "bash", input: "command-words" },
        ],
      };
    return { text: index === 3 ? "last-words" : `answer ${index}` };
  });
  const world = {
    ...createWorld({
      model,
      tools: [edit, planned],
      policy: (tool) => (tool === "edit" ? { ...allow, decision: "review", reason: "shown-words", forModel: "shown-words" } : allow),
      check: (round) => round > 0,
    }),
    ...store,
  };
  const ports = portsOf(world);
  const session = await createSession(ports, {
    roots: [{ id: "w", path: "/w" }],
    cwd: "/w",
    settings: { ...testSettings, approvals: "allow" },
    title: "prompt-words are…",
    checks: [testCheck],
  });
  const picture = await store.blobs.put(bytes("picture-words"));
  await post(ports, session, {
    type: "input.send",
    parts: [
      { type: "text", text: "prompt-words are these" },
      { type: "image", blob: picture, mediaType: "image/png" },
    ],
  });
  await drive(ports, session, { waiting: "return" });
  await post(ports, session, say("later-words"));
  await drive(ports, session, { waiting: "return" });
  return { ports, session, requests: model.requests };
}

export async function idsOf(ports: Ports, session: string): Promise<Record<Name, string>> {
  const { items } = await readSession(ports, session);
  const idOf = (kind: string, position: number): string => items.filter((item) => item.kind === kind)[position]?.id ?? "";
  return {
    prompt: idOf("user_message", 0),
    thought: idOf("assistant_message", 0),
    edit: idOf("tool_call", 0),
    edited: idOf("tool_result", 0),
    command: idOf("tool_call", 1),
    ran: idOf("tool_result", 1),
    steering: idOf("user_message", 1),
    last: idOf("assistant_message", 3),
    notice: idOf("notice", 0),
  };
}

export function found(contents: string): string[] {
  return allWords.filter((word) => contents.includes(word));
}

export async function expectWhole(ports: Ports, session: string): Promise<void> {
  await expectLaw(ports.log, session);
  expect(findChainFault(await ports.log.read(session, 1))).toBeNull();
  const { items } = await readSession(ports, session);
  expectPaired(items);
  const { windowChars } = JSON.parse((await ports.log.load(session))?.head ?? "null") as Head;
  expect(windowChars).toBe(items.reduce((sum, item) => sum + itemChars(item), 0));
}
