import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileEdit } from "@holdfast/runtime/ports/files";
import { afterEach, expect, test } from "vitest";
import type { FileOperations } from "../src/files/file-operations.ts";
import { createFiles } from "../src/files/index.ts";
import { digest, editOf } from "../../tools/test/files-conformance.ts";
import { temporaryFiles } from "./files-workspace.ts";

type Workspace = Awaited<ReturnType<typeof temporaryFiles>>;
const open: Workspace[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const before = { "a.txt": "a1", "sub/b.txt": "b1", gone: "g1", "new/deep/c.txt": null };
const after = { "a.txt": "a2", "sub/b.txt": "b2", gone: null, "new/deep/c.txt": "c2" };
type Name = keyof typeof before;
const names = Object.keys(before) as Name[];

async function workspace(options: Parameters<typeof temporaryFiles>[0] = {}): Promise<Workspace> {
  const at = await temporaryFiles(options);
  open.push(at);
  for (const name of names) if (before[name] !== null) await at.write(name, before[name]);
  return at;
}

const edits = (at: Workspace): FileEdit[] => names.map((name) => editOf(join(at.root, name), before[name], after[name]));
const claim = (attempt: number) => ({ session: "session_1", callId: "call_1", attempt });

async function contents(at: Workspace): Promise<Record<string, string | null>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await at.content(name)] as const)));
}

function leftovers(at: Workspace): string[] {
  return readdirSync(at.root, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".holdfast-"));
}

/** The real operations, of which those that `fails` picks (by count and name) are refused. */
function failing(fails: (count: number, name: keyof FileOperations) => boolean): {
  operations: FileOperations;
  used: () => number;
  failed: () => string | null;
} {
  let count = 0;
  let failed: string | null = null;
  const operations = new Proxy(fs as FileOperations, {
    get(target, name: keyof FileOperations) {
      return (...args: never[]) => {
        if (fails(count++, name)) {
          failed = name;
          throw Object.assign(new Error("injected"), { code: "EIO" });
        }
        return (target[name] as (...all: never[]) => unknown)(...args);
      };
    },
  });
  return { operations, used: () => count, failed: () => failed };
}

test("whichever single operation fails, all files are changed or none", async () => {
  let isDone = false;
  let refusals = 0;
  for (let at = 0; !isDone; at += 1) {
    const injected = failing((count) => count === at);
    const each = await workspace({ operations: injected.operations });
    const result = await each.files.apply(edits(each), claim(1));
    const isUnlink = injected.failed() === "unlinkSync";
    if (result.type === "applied") expect(await contents(each), `operation ${at}`).toEqual(after);
    else {
      refusals += 1;
      expect(result, `operation ${at}`).toMatchObject({ type: "failed", code: "EIO" });
      expect(await contents(each), `operation ${at}`).toEqual(before);
      expect(fs.existsSync(join(each.root, "new")), `operation ${at}`).toBe(false);
    }
    if (!isUnlink) expect(leftovers(each), `operation ${at}`).toEqual([]);
    isDone = injected.failed() === null;
    const next = createFiles({ cwd: each.root, roots: each.files.roots, lockDir: join(each.base, "locks") });
    expect(await next.probe(edits(each), claim(1)), `operation ${at}`).toBe(result.type === "applied" ? "after" : "before");
    next.close();
    expect(leftovers(each)).toEqual([]);
  }
  expect(refusals).toBeGreaterThan(15);
});

test("where putting back fails too, the call is uncertain, and a resumed attempt completes it", async () => {
  let isBroken = false;
  const injected = failing((_, name) => name === "renameSync" && (isBroken ||= readSafely(join(open.at(-1)!.root, "sub/b.txt")) === "b2"));
  const at = await workspace({ operations: injected.operations });
  await expect(at.files.apply(edits(at), claim(1))).rejects.toSatisfy((error) => isHoldfastError(error, "internal"));
  const next = createFiles({ cwd: at.root, roots: at.files.roots, lockDir: join(at.base, "locks") });
  expect(await next.probe(edits(at), claim(1))).toBe("mixed");
  expect(await next.apply(edits(at), claim(2))).toEqual({ type: "applied" });
  next.close();
  expect(await contents(at)).toEqual(after);
  expect(leftovers(at)).toEqual([]);
});

function readSafely(path: string): string | null {
  return fs.existsSync(path) ? fs.readFileSync(path, "utf8") : null;
}

test("a writer killed at any point leaves something that a probe understands and a resumed attempt completes", async () => {
  const findings = new Set<string>();
  let next = 0;
  let isDone = false;
  async function walk(): Promise<void> {
    while (!isDone) {
      const at = await workspace();
      const point = next++;
      const output = await outputOf(child(at, point, "SIGKILL"));
      if (output !== "") isDone = true;
      const finding = await at.files.probe(edits(at), claim(1));
      findings.add(finding);
      expect(["before", "mixed", "after"], `point ${point}`).toContain(finding);
      expect(leftovers(at), `point ${point}`).toEqual([]);
      if (finding !== "after") expect(await at.files.apply(edits(at), claim(2)), `point ${point}`).toEqual({ type: "applied" });
      expect(await contents(at), `point ${point}`).toEqual(after);
      expect(leftovers(at), `point ${point}`).toEqual([]);
    }
  }
  await Promise.all([walk(), walk()]);
  expect([...findings].toSorted()).toEqual(["after", "before", "mixed"]);
});

test("a frozen writer makes others wait and say so, and never overwrites its successor", async () => {
  const said: string[] = [];
  const at = await workspace({ onWait: (message) => said.push(message), maxWaitMs: 2_500 });
  const frozen = child(at, 24, "SIGSTOP");
  await stopped(frozen);
  expect(await contents(at)).not.toEqual(after);
  await expect(at.files.apply(edits(at), claim(2))).rejects.toSatisfy((error) => isHoldfastError(error, "workspace_busy"));
  expect(said).toHaveLength(1);
  const probing = at.files.probe(edits(at), claim(1));
  frozen.kill("SIGKILL");
  expect(["before", "mixed"]).toContain(await probing);
  expect(await at.files.apply(edits(at), claim(2))).toEqual({ type: "applied" });
  expect(await contents(at)).toEqual(after);
});

test("a writer that wakes up after it was given up is refused", async () => {
  const at = await workspace();
  expect(await at.files.probe(edits(at), claim(1))).toBe("before");
  const output = await outputOf(child(at, -1, "SIGKILL"));
  expect(JSON.parse(output)).toMatchObject({ result: { type: "revoked" } });
  expect(await contents(at)).toEqual(before);
});

function child(at: Workspace, stopAt: number, signal: NodeJS.Signals): ChildProcess {
  const plain = names.map((name) => ({
    path: join(at.root, name),
    before: before[name] === null ? null : digest(before[name]),
    after: after[name],
    afterDigest: after[name] === null ? null : digest(after[name]),
    mode: null,
  }));
  const script = join(import.meta.dirname, "files-crash-child.ts");
  return spawn(process.execPath, [script, at.root, join(at.base, "locks"), String(stopAt), signal, JSON.stringify(plain)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function outputOf(process: ChildProcess): Promise<string> {
  let output = "";
  process.stdout!.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(process, "close");
  return output;
}

async function stopped(process: ChildProcess): Promise<void> {
  const state = () => readSafely(`/proc/${process.pid}/stat`)?.replace(/^.*\) /, "")[0];
  while (state() !== "T") await new Promise((resolve) => setTimeout(resolve, 10));
}
