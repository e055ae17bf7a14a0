import type { Clock } from "@holdfast/runtime/ports/clock";
import type { SecretStore } from "@holdfast/runtime/ports/secrets";
import type { KeptSecret } from "./kept-file.ts";
import type { Keyring } from "./keyring.ts";

/** What is said of a secret, by name. */
export interface SecretDefinition {
  /** Its value, where the environment has it. */
  readonly fromEnvironment: string | null;
  /** Its kept value, where there is one. */
  readonly kept: KeptSecret | null;
  /** Under which name it is kept; its own where nothing is said. */
  readonly keptAs?: string;
  readonly hosts?: readonly string[];
  /** Gives a new value, and until when it holds; null where the person has to. */
  readonly refresh: (() => Promise<{ readonly value: string; readonly expiresAt: number | null } | null>) | null;
}

interface Value {
  readonly value: string;
  readonly expiresAt: number | null;
}

export interface StoreParts {
  readonly find: (name: string) => SecretDefinition | null;
  readonly keyring: () => Promise<Keyring | null>;
  readonly clock: Pick<Clock, "now">;
  /** What the process holds from the beginning. */
  readonly values: readonly string[];
  /** Told of each further value, so that it can be hidden everywhere. */
  readonly onValue: (value: string) => void;
}

/** A value that ends within this time is taken as ended: a request takes its time. */
const soonMs = 30_000;

/** Secrets by name, from the environment, a file or the keyring; one that ends is asked for anew where it can be. */
export function createSecretStore({ find, keyring, clock, values, onValue }: StoreParts): SecretStore & { hold(value: string): void } {
  let held = values;
  const fresh = new Map<string, Value>();
  const pending = new Map<string, Promise<Value | null>>();
  const hold = (value: string): void => {
    if (held.includes(value)) return;
    held = [...held, value];
    onValue(value);
  };
  const isOver = (expiresAt: number | null): boolean => expiresAt !== null && expiresAt - soonMs <= clock.now();

  async function valueOf(name: string, { fromEnvironment, kept, keptAs = name, refresh }: SecretDefinition): Promise<Value | null> {
    if (fromEnvironment !== null) return { value: fromEnvironment, expiresAt: null };
    const known = fresh.get(name);
    if (known !== undefined && !isOver(known.expiresAt)) return known;
    if (kept !== null && !isOver(kept.expiresAt)) {
      const value = kept.in === "file" ? (kept.value ?? null) : ((await (await keyring())?.get(keptAs)) ?? null);
      if (value !== null) return { value, expiresAt: kept.expiresAt };
    }
    if (refresh === null) return null;
    // One at a time: calls side by side share the new value.
    const asked = pending.get(name) ?? refresh().catch(() => null);
    pending.set(name, asked);
    const found = await asked;
    pending.delete(name);
    if (found !== null) fresh.set(name, found);
    return found;
  }

  return {
    async get(name) {
      const definition = find(name);
      if (definition === null) return null;
      const found = await valueOf(name, definition);
      if (found === null || found.value === "") return null;
      hold(found.value);
      return { ...found, ...(definition.hosts === undefined ? {} : { hosts: definition.hosts }) };
    },
    values: () => held,
    /** Takes up a value that came another way. */
    hold,
  };
}
