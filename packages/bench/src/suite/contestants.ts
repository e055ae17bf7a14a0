import { join } from "node:path";

/** A program that does what the model on loopback asks for. */
export interface Contestant {
  readonly name: string;
  /** What stands in tables. */
  readonly title: string;
  command(place: Place): readonly string[];
  environment?(place: Place): Readonly<Record<string, string>>;
}

export interface Place {
  readonly baseUrl: string;
  /** Kept from run to run: what a program sets up once is not measured again. */
  readonly home: string;
}

const bare = [process.execPath, join(import.meta.dirname, "bare-loop.ts"), "go"];

export const floor: Contestant = { name: "bare", title: "bare loop", command: () => bare };

export const floorSynced: Contestant = {
  name: "bare+fsync",
  title: "bare loop, one fdatasync an event",
  command: () => bare,
  environment: ({ home }) => ({ BENCH_LOG: join(home, "events.jsonl") }),
};

const enough = "1000000";

/** `args` beside what every run is given: "off" without the sandbox, none for the defaults. */
export function holdfast(program: string, sandbox: "off" | "workspace-write"): Contestant {
  const limits = ["--max-steps", enough, "--max-tool-calls", enough, "--max-tokens", "1000000000"];
  return {
    name: sandbox === "off" ? "holdfast-unconfined" : "holdfast",
    title: sandbox === "off" ? "Holdfast, sandbox off" : "Holdfast",
    command: () => [program, "exec", "--model", "openai/bench", "--sandbox", sandbox, "--approvals", "allow", ...limits, "--quiet", "go"],
  };
}
