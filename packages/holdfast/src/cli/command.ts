import type { Hosts } from "../runtime-api.ts";
import type { Io } from "./io.ts";

export interface FlagSpec {
  readonly kind: "boolean" | "string" | "list";
  readonly short?: string;
  /** Placeholder of the value in the help; absent for booleans. */
  readonly value?: string;
  readonly help: string;
  /** For values from a closed set. */
  readonly oneOf?: readonly string[];
}

export interface CommandSpec {
  /** As typed, such as `exec` or `approvals answer`. Empty for line mode. */
  readonly name: string;
  readonly summary: string;
  readonly usage: readonly string[];
  readonly flags: Readonly<Record<string, FlagSpec>>;
  /** How many words besides flags; `named` says what they are. */
  readonly words: { readonly min: number; readonly max: number; readonly named: string };
  readonly examples: readonly (readonly [command: string, what: string])[];
  readonly notes?: readonly string[];
}

/** What was typed, checked against the spec. */
export interface Arguments {
  readonly words: readonly string[];
  has(flag: string): boolean;
  /** The value given last. */
  value(flag: string): string | undefined;
  values(flag: string): readonly string[];
}

export interface Command extends CommandSpec {
  run(given: Arguments, io: Io, hosts: Hosts): Promise<number>;
}
