import { HoldfastError } from "@holdfast/protocol";
import type { BlobStore, CheckFiles, Clock, Ids, Observer, Processes, Signer, Wakeups } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime";
import type { MemoryFiles } from "../src/index.ts";

/** What a page gives the core, with nothing but Web-standard APIs. */
export const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
};

export const ids: Ids = {
  next: (prefix) => `${prefix}_${Date.now().toString(36).padStart(9, "0")}${randomHex(10)}`,
  salt: randomHex,
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
};

function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function createPageWakeups(): Wakeups {
  const listeners = new Set<() => void>();
  return {
    ring: () => {
      for (const listener of listeners) listener();
    },
    listen: (_, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          listeners.delete(done);
          resolve();
        };
        listeners.add(done);
        signal.addEventListener("abort", done);
        setTimeout(done, 100);
      }),
    serve: () => Promise.reject(new Error("a page serves no sessions but its own")),
  };
}

/** A tab runs no commands. It owns what it drives, and no other owner is known to live. */
export function createPageProcesses(): Processes {
  const owner = { pid: 1, startTime: String(performance.timeOrigin), bootId: randomHex(16), label: "this page" };
  const refuse = async (): Promise<never> => {
    throw new HoldfastError("sandbox_unavailable", "a page runs no commands");
  };
  return {
    owner,
    isAlive: (other) => other.bootId === owner.bootId,
    sandboxProblem: async () => "a page runs no commands",
    start: refuse,
    record: async () => ({ type: "none", sameBoot: false }),
    revoke: async () => ({ taken: [] }),
    attach: refuse,
    read: refuse,
    write: async () => null,
    closeInput: async () => undefined,
    pause: async () => undefined,
    endRuns: async () => undefined,
    forgetOutput: async () => undefined,
    remains: async () => ({ bytes: 0, isRunning: false }),
    endSession: async () => undefined,
  };
}

/** Looks at the files of the page. A manifest is their paths and contents. What only checks ask for, a page hasn't. */
export function createPageObserver(files: MemoryFiles, blobs: BlobStore): Observer & CheckFiles {
  const noChecks = async (): Promise<never> => {
    throw new Error("a page runs no checks");
  };
  const contents = async (): Promise<Record<string, string>> => {
    const entries = files.paths().map(async (path) => {
      const { real } = await files.identify(path);
      return [path, new TextDecoder().decode((await files.read(real, 2 ** 20)).bytes)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  };
  const manifest = async (blob: string): Promise<Record<string, string>> => {
    const bytes = await blobs.get(blob);
    return bytes === null ? {} : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, string>);
  };
  return {
    world: async () => [{ id: "page", trust: "system", text: `The workspace is ${files.cwd}, in the memory of a page.` }],
    snapshot: async () => {
      const text = JSON.stringify(await contents());
      return { subject: sha256(text), manifest: await blobs.put(new TextEncoder().encode(text)), gitTree: null };
    },
    isTracked: async () => false,
    blobsOf: async (id) => [id],
    changes: async (before, after) => {
      const [old, now] = await Promise.all([manifest(before), manifest(after)]);
      const paths = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((path) => old[path] !== now[path]);
      return paths.map((path) => ({
        path,
        change: old[path] === undefined ? "added" : now[path] === undefined ? "deleted" : "modified",
        added: null,
        removed: null,
      }));
    },
    diff: async () => null,
    list: noChecks,
    content: noChecks,
    look: noChecks,
    keep: noChecks,
    gitState: noChecks,
    ignored: noChecks,
    sign: noChecks,
    read: async () => null,
    standing: noChecks,
    scratch: noChecks,
  };
}

/** Signs with a key that lives as long as the page. */
export async function createPageSigner(): Promise<Signer> {
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  return {
    keyId: "page",
    sign: async (text) => {
      const signature = await crypto.subtle.sign("Ed25519", pair.privateKey, new TextEncoder().encode(text));
      return btoa(String.fromCharCode(...new Uint8Array(signature)));
    },
    verify: (text, signature) =>
      crypto.subtle.verify(
        "Ed25519",
        pair.publicKey,
        Uint8Array.from(atob(signature), (char) => char.charCodeAt(0)),
        new TextEncoder().encode(text),
      ),
  };
}
