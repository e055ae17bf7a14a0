import { z } from "zod";
import { inspectedPart } from "./check.ts";
import { expectation } from "./expectation.ts";
import { json } from "./json.ts";
import { replayClass, scope } from "./decision.ts";
import { callStatus, shownImage } from "./item.ts";
import { toolSpec } from "./request.ts";
import { planStep } from "./plan.ts";
import { asking } from "./question.ts";
import { trustLabel } from "./trust.ts";

/**
 * What a call is about to do, worked out by its tool without any effect.
 * Resources are strings such as `file:/real/path`; a call conflicts with another that writes what it reads or writes.
 * `workspace` is the lock it needs on the workspace as a whole: an unknown command takes it `exclusive`.
 */
export const callPlan = z.object({
  input: json,
  summary: z.string(),
  reads: z.array(z.string()),
  writes: z.array(z.string()),
  workspace: z.enum(["none", "shared", "exclusive"]),
  replay: replayClass,
  changesWorkspace: z.boolean(),
  /** How long the target of a `keyed` call knows its key, ms from the intent on; absent: for ever. */
  keyLifetimeMs: z.number().int().positive().optional(),
  /** True where the model alone says that the target knows a repeated call by its key. */
  isKeyClaimed: z.boolean().optional(),
  command: z.string().optional(),
  cwd: z.string().optional(),
  /** Set for a tool of an MCP server: whose it is, its name there, and a digest of all that defines it. */
  mcp: z.object({ server: z.string(), tool: z.string(), definition: z.string() }).optional(),
  /** Where the call gives input to a command that was started before: that command's line, and what is typed. */
  typed: z.object({ command: z.string(), text: z.string() }).optional(),
  /** What the model asks for beyond the session's mode, for this call alone, and why. Only a person can grant it. */
  asks: z.object({ scope, why: z.string() }).optional(),
  expect: expectation.optional(),
  /** Digest of what makes a call the same effect as another: its input without how long to wait, what to expect, spaces, defaults and empty values; or as the tool knows it, which may write one input in several ways. */
  identity: z.string().optional(),
  /** Digest by which a repeated command is known in a loop: its input with the line as the shell reads it, without comments. Absent: by its input. */
  repeats: z.string().optional(),
  /** Set where the call is carried out by a person's answer, and by nothing else. */
  question: asking.optional(),
});
export type CallPlan = z.infer<typeof callPlan>;

/** One file as a call left it. Digests are hex SHA-256 of the content, null where there is no file. `before` is a blob id. */
export const changedFile = z.object({
  path: z.string(),
  beforeDigest: z.string().nullable(),
  afterDigest: z.string().nullable(),
  before: z.string().nullable(),
  beforeMode: z.number().int().nullable(),
});
export type ChangedFile = z.infer<typeof changedFile>;

/** A piece of asynchronous work with a handle, left running by a call. */
export const task = z.object({
  id: z.string(),
  callId: z.string(),
  kind: z.literal("command"),
  title: z.string(),
  ref: z.string(),
  /** Where it takes input: the line that runs, by which what is typed is judged. */
  command: z.string().optional(),
  /** How much of its output results have shown, bytes. */
  shown: z.number().int().nonnegative().optional(),
  /** Where a check needs it: its whole line, the run's attempt, and the tree that it began on (null: not known). */
  needed: z.object({ line: z.string(), attempt: z.number().int(), subject: z.string().nullable() }).optional(),
});
export type Task = z.infer<typeof task>;

/** The limit that a command passed and was ended for: processes at once, resident bytes, or bytes that must stay free on a disk. */
export const commandLimit = z.object({ limit: z.enum(["processes", "memory", "disk"]), max: z.number(), seen: z.number() });
export type CommandLimit = z.infer<typeof commandLimit>;

/**
 * What the sandbox kept a command from. `port` is null where it isn't known. `open` is what would have to be opened for it: the
 * file, or its folder where it isn't there. A hidden path can't be asked for.
 */
export const sandboxRefusal = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("host"), host: z.string(), port: z.number().int().nullable(), reason: z.string() }),
  z.object({ kind: z.literal("write"), path: z.string(), open: z.string() }),
  z.object({ kind: z.literal("hidden"), path: z.string() }),
]);
export type SandboxRefusal = z.infer<typeof sandboxRefusal>;

/** What a tool brings back. `text` is what the model reads; `output` names the whole where `text` is a part. */
export const callOutcome = z.object({
  status: callStatus,
  text: z.string(),
  trust: trustLabel,
  output: z.string().optional(),
  /** Blob that holds the whole where `output` names no run. */
  whole: z.string().optional(),
  images: z.array(shownImage).optional(),
  /** Tools that were found: set by `search_tools` alone. */
  tools: z.array(toolSpec).optional(),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  timedOut: z.boolean().optional(),
  httpStatus: z.number().int().optional(),
  durationMs: z.number().optional(),
  /** Set where the command was ended for it. */
  limited: commandLimit.optional(),
  /** Set where the sandbox refused something to a command that then failed. */
  refused: z.array(sandboxRefusal).optional(),
  changed: z.array(changedFile).optional(),
  /**
   * Files that the call's expectation names: digests before and after, null where there was none. `isOtherForm`: with whatever
   * content, it has another mode, or stands elsewhere by a link.
   */
  files: z
    .array(
      z.object({
        path: z.string(),
        before: z.string().nullable(),
        after: z.string().nullable(),
        isOtherForm: z.literal(true).optional(),
      }),
    )
    .optional(),
  /** Files whose content the model has now seen, by real path. An edit is held to the digest seen last. */
  seen: z.array(z.object({ path: z.string(), digest: z.string() })).optional(),
  task: task.optional(),
  endedTask: z.string().optional(),
  /** The session's plan from now on: set by `update_plan` alone. */
  steps: z.array(planStep).optional(),
  /** A check more that the work is held to: set by `propose_check` alone. */
  proposed: z
    .object({
      command: z.string(),
      name: z.string(),
      inputs: z.array(z.string()),
      outputs: z.array(z.string()),
      timeoutMs: z.number().int().positive(),
    })
    .optional(),
  /** How much of a task's output has now been shown, bytes. */
  shown: z.object({ taskId: z.string(), bytes: z.number().int().nonnegative() }).optional(),
  /** Parts of changes that the model has now read: set by `read_change` alone. */
  inspected: z.array(inspectedPart).optional(),
  /** Set by `give_up` alone. */
  gaveUp: z.object({ reason: z.string(), blockedBy: z.string().nullable() }).optional(),
});
export type CallOutcome = z.infer<typeof callOutcome>;
