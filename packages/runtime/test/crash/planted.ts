import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api } from "./api.ts";
import type { Fault } from "./faults.ts";
import type { Scenario } from "./scenarios.ts";

/** A fault built into a copy of the runtime, and where it must come to light. */
export interface Planted {
  readonly name: string;
  /** File, what stands in it exactly once, and what stands there in the copy. */
  readonly edits: readonly (readonly [file: string, found: string, put: string])[];
  readonly replay: Scenario["replay"];
  readonly fault: Fault;
  /** What the judge must say. */
  readonly says: RegExp;
}

const claimed = "if (takesClaim) await claim(driver, callId, intent.attempt);";
const fromDriver = 'import { isFatal, messageOf, newId, stop, stopAt } from "./driver.ts";';

export const planted: readonly Planted[] = [
  {
    name: "the settlement is recorded before the effect",
    edits: [
      ["drive/call.ts", fromDriver, fromDriver.replace("isFatal", "flush, stage, isFatal")],
      [
        "drive/call.ts",
        claimed,
        `${claimed}\n      stage(driver, [settledWithout(callId, "completed", "acted", newId(driver))]);\n      await flush(driver);`,
      ],
    ],
    replay: "never",
    fault: "killed",
    says: /is said to be done and was not/,
  },
  {
    name: "the effect does not wait for its intent",
    edits: [
      [
        "drive/drive.ts",
        "      await flush(driver);\n      if (end?.type",
        "      reconcile(decide(driver, ports.clock.now()), running, start);\n      await new Promise((resolve) => setTimeout(resolve, 5));\n      await flush(driver);\n      if (end?.type",
      ],
    ],
    replay: "never",
    fault: "killed",
    says: /was done and the log has forgotten it|was done 2 times/,
  },
  {
    name: "the effect does not wait for its claim",
    edits: [["drive/call.ts", claimed, ""]],
    replay: "never",
    fault: "killed",
    says: /was done 2 times/,
  },
  {
    name: "an effect is settled twice",
    edits: [
      [
        "drive/drive.ts",
        "if (isAwaited(driver, one.effect)) stage(driver, one.events);",
        'if (isAwaited(driver, one.effect)) stage(driver, one.effect.type === "call" ? [...one.events, ...one.events] : one.events);',
      ],
    ],
    replay: "probe",
    fault: "killed",
    says: /settled twice/,
  },
  {
    name: "a call that may have happened is run again",
    edits: [
      [
        "drive/recover.ts",
        'return wasUntaken && !isUncertain ? { type: "not_happened" }',
        'return wasUntaken || !isUncertain ? { type: "not_happened" }',
      ],
    ],
    replay: "never",
    fault: "killed",
    says: /was done 2 times/,
  },
  {
    name: "a call that may have happened is called failed",
    edits: [["kernel/settle.ts", 'status: "in_doubt",', 'status: "failed",']],
    replay: "never",
    fault: "killed",
    says: /was done and is said to be failed/,
  },
  {
    name: "the model is not told how to look",
    edits: [["kernel/settle.ts", "look at ${look}", "think of ${look}"]],
    replay: "never",
    fault: "killed",
    says: /the model is not told/,
  },
  {
    name: "the key changes with the attempt",
    edits: [
      [
        "drive/call.ts",
        "const run = async (handOver",
        "intent = { ...intent, key: String(intent.attempt), callId: callId + intent.attempt };\n    const run = async (handOver",
      ],
      [
        "drive/call.ts",
        "const { register, tool, intent } = intended(driver, callId);\n  const contextOf",
        "let { register, tool, intent } = intended(driver, callId);\n  const contextOf",
      ],
    ],
    replay: "keyed",
    fault: "killed",
    says: /what one call was to do was done 2 times/,
  },
  {
    name: "an intent is not flushed",
    edits: [["drive/driver.ts", '(event.type === "call.intended" && event.payload.replay !== "safe")', "false"]],
    replay: "probe",
    fault: "lost tail, normal",
    says: /the log has forgotten it/,
  },
  {
    name: "a lock that could not be given back stays taken",
    edits: [["drive/lock.ts", "abandoned.set(log, others.add(keyOf(name, owner)));", "abandoned.set(log, others);"]],
    replay: "never",
    fault: "disk full",
    says: /is driven by/,
  },
  {
    name: "a claim revoked by a driver that died counts as taken",
    edits: [["drive/call.ts", 'return isOurs || (claim === "revoked"', 'return isOurs || (claim === "taken"']],
    replay: "never",
    fault: "killed",
    says: /in doubt instead of once/,
  },
];

const source = join(import.meta.dirname, "../../src");

/** The runtime with these edits, in a folder of its own. Throws where the code to be changed isn't there once. */
export async function plant(edits: Planted["edits"]): Promise<{ readonly api: Api; readonly remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-planted-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    cpSync(source, join(folder, "src"), { recursive: true });
    symlinkSync(join(source, "../../../node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    for (const [file, found, put] of edits) {
      const path = join(folder, "src", file);
      const text = readFileSync(path, "utf8");
      if (text.split(found).length !== 2) throw new Error(`${file} doesn't hold this exactly once: ${found}`);
      writeFileSync(
        path,
        text.replace(found, () => put),
      );
    }
    return { api: (await import(/* @vite-ignore */ join(folder, "src/index.ts"))) as Api, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
