import { realpath, stat } from "node:fs/promises";
import { letGo } from "../session/let-go.ts";
import { dirname, resolve } from "node:path";
import type { DriveEnd } from "@holdfast/runtime";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { canAsk } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { homeFolder, writeAtomically } from "../config/home.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { findPrompts } from "../prompts/find.ts";
import { largestPrompt, readPromptFile } from "../prompts/file.ts";
import type { Said } from "../prompts/use.ts";
import { inputsOf, readCall, sayPrompt } from "../prompts/use.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { driveTurn, retrying } from "../session/drive-turn.ts";
import type { SessionWishes } from "../session/flags.ts";
import { readWishes, sessionFlags } from "../session/flags.ts";
import { readImage } from "../session/images.ts";
import { readOutputSchema } from "../session/output-schema.ts";
import type { pickSession } from "../session/pick-session.ts";
import { pruneDaily } from "../session/retention.ts";
import { showJson, showProgress } from "../session/show-turn.ts";
import type { ReadySession } from "../session/start.ts";
import { inputParts, openSetup, resumeSession, startSession, titleOf } from "../session/start.ts";

const spec: CommandSpec = {
  name: "exec",
  summary: "Runs one turn and exits with how it ended. Progress goes to stderr, the final message alone to stdout.",
  usage: [
    "holdfast exec [flags] [prompt|-]",
    "holdfast exec resume [flags] ID [prompt|-]",
    "holdfast exec resume [flags] --last [prompt|-]",
  ],
  flags: {
    ...sessionFlags,
    image: { kind: "list", short: "i", value: "FILE", help: "show the model this PNG, JPEG, GIF or WebP image (repeatable)" },
    "prompt-file": { kind: "string", value: "FILE", help: "the prompt is what this file holds" },
    last: { kind: "boolean", help: "with resume: the newest session of this folder" },
    json: { kind: "boolean", help: "one JSON event a line on stdout instead" },
    "experimental-json": {
      kind: "boolean",
      help: "--json for programs written on @openai/codex-sdk: Codex's flags and config keys are understood, the sandbox is read-only where nothing else is said, and a session that is still driven is waited for",
    },
    "output-schema": { kind: "string", value: "FILE", help: "the final message must be JSON that is valid under this JSON Schema" },
    output: { kind: "string", short: "o", value: "FILE", help: "also write the final message to this file" },
    attest: {
      kind: "string",
      value: "FILE",
      help: "write a signed attestation of a verified turn to this file; otherwise it is left empty",
    },
    ephemeral: { kind: "boolean", help: "keep nothing: the session ends with the process" },
    "plan-checks": { kind: "boolean", help: "show the checks that would decide, and end: no model is asked" },
    quiet: { kind: "boolean", short: "q", help: "no progress, only how it ended" },
  },
  words: { min: 0, max: 3, named: "prompt" },
  notes: [
    "A prompt such as /NAME ARGS is a reusable one, or a skill: see holdfast prompts and holdfast skills. Text from stdin or a file is taken as it is.",
    "Without an ID and at a terminal, resume shows the sessions of this folder to choose from.",
    "Without a prompt it is read from stdin where that is a pipe or a file; - always reads stdin.",
    "Exit status: 0 verified, or no check was asked for; 1 failed; 2 wrong usage; 3 refuted; 4 waiting for an answer; 5 a limit was reached; 6 checks passed, but the evidence is weak; 7 blocked by a refused call; 130 interrupted.",
    "Without a person to ask (--approvals deny, the default) a call that needs one is refused, and the model is told so.",
  ],
  examples: [
    ['holdfast exec --model openai/NAME --check "npm test" "Fix the login bug"', "the work counts as done when npm test passes"],
    ['holdfast exec resume --last "also cover the empty password"', "goes on with the newest session of this folder"],
    ["git diff | holdfast exec --model openai/NAME --json -", "the prompt from stdin, events as JSON lines"],
  ],
};

/** A program that breaks off a run may go on with the thread at once, while the run still comes to its end. */
const codexWaitMs = 30_000;

interface Request {
  /** Null for a new session; `asks`: the person chooses one. */
  readonly resume: { readonly id: string | null } | "asks" | null;
  /** Null where it is to be read from stdin, `undefined` where a resume goes on without one. */
  readonly prompt: string | null | undefined;
}

/** Pure: which session and which prompt the words name. */
export function readRequest(given: Arguments, stdinIsTTY: boolean, canAsk = false): Request {
  const [first, ...rest] = given.words;
  const word = (text: string | undefined): string | null | undefined => (text === "-" ? null : text);
  if (first === "resume") {
    if (given.has("ephemeral")) throw usage(spec, "--ephemeral keeps no session that could be resumed");
    const words = given.has("last") ? rest : rest.slice(1);
    const id = given.has("last") ? null : rest[0];
    if (id === undefined && canAsk) return { resume: "asks", prompt: undefined };
    if (id === undefined) throw usage(spec, "resume: which session?", "name its ID, or --last for the newest of this folder");
    if (words.length > 1) throw usage(spec, `unexpected word ${JSON.stringify(words[1])}`, "put a prompt of several words in quotes");
    return { resume: { id }, prompt: word(words[0]) };
  }
  if (given.has("last")) throw usage(spec, "--last belongs to resume", 'holdfast exec resume --last "…"');
  if (rest.length > 0) throw usage(spec, `unexpected word ${JSON.stringify(rest[0])}`, "put a prompt of several words in quotes");
  if (first === undefined && stdinIsTTY && !given.has("prompt-file")) throw usage(spec, "there is no prompt", 'holdfast exec "what to do"');
  return { resume: null, prompt: word(first) ?? null };
}

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  try {
    return await runOnce(given, io, hosts);
  } catch (error) {
    // Whoever reads the lines learns of the failure there too; the caller tells the person and sets the exit status.
    if (isJsonAsked(given)) {
      const code = isHoldfastError(error) ? error.code : "internal";
      io.stdout.write(jsonLine({ type: "error", message: error instanceof Error ? error.message : String(error), code }));
    }
    throw error;
  }
}

async function runOnce(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const isJson = isJsonAsked(given);
  const isCodex = given.has("experimental-json");
  const flags = readWishes(spec, given);
  if (given.has("plan-checks")) return (await import("../session/plan-checks.ts")).planChecks(io, flags, { given, isJson });
  const request = readRequest(given, io.stdin.isTTY, !isJson && canAsk(io));
  const output = given.value("output");
  const outputPath = output === undefined ? null : await writablePath("-o", resolve(io.cwd, output));
  const attested = given.value("attest");
  if (attested !== undefined && given.has("ephemeral")) {
    throw usage(spec, "--attest needs a session that is kept, and --ephemeral keeps none");
  }
  const attestPath = attested === undefined ? null : await writablePath("--attest", resolve(io.cwd, attested));
  if (attestPath !== null && attestPath === outputPath) throw usage(spec, "-o and --attest name the same file");
  const schemaFile = given.value("output-schema");
  const outputSchema = schemaFile === undefined ? undefined : await readOutputSchema(schemaFile, io.cwd);
  const images = await Promise.all(given.values("image").map((file) => readImage(file, io.cwd)));
  const prompt = await readPrompt(request, given.value("prompt-file"), flags, io, images.length > 0);
  // A schema is for the turn it is given with: without one, the next prompt is answered in words again.
  const schema = outputSchema ?? (prompt === undefined ? undefined : null);
  const wishes = { ...flags, ...(schema === undefined ? {} : { outputSchema: schema }) };
  const setup = await openSetup(io, {
    isEphemeral: given.has("ephemeral"),
    profile: given.value("profile"),
    overrides: given.values("config"),
  });
  const id = request.resume === "asks" ? await chooseSession(io, hosts, setup, wishes.folder) : (request.resume?.id ?? null);
  const about = { title: titleOf(prompt?.text ?? ""), defaultApprovals: "deny" } as const;
  const ready =
    request.resume === null
      ? await startSession(io, hosts, setup, wishes, isCodex ? { ...about, defaultSandbox: "read-only" } : about)
      : await resumeSession(io, hosts, setup, wishes, id, isCodex ? { waitMs: codexWaitMs } : {});
  try {
    const shown = isJson ? showJson(io, ready) : showProgress(io, ready, given.has("quiet"));
    if (prompt !== undefined || images.length > 0) {
      const isAsked = request.resume === null && !isJson && flags.approvals === "ask" && canAsk(io, io.stderr);
      const said = isAsked && prompt !== undefined ? await clarifiedAtTerminal(io, prompt, ready) : prompt;
      for (const [at, { text, trust }] of inputsOf(said ?? { text: "", trust: "user" }).entries()) {
        const parts = await inputParts(ready.host, text, at === 0 ? images : []);
        await ready.host.runtime.post(ready.host.ports, ready.session, { type: "input.send", parts, trust });
      }
    }
    const drive = () =>
      driveTurn(ready.host, ready.session, {
        waiting: "return",
        ...retrying(setup.config),
        onEvent: shown.onEvent,
        onWait: setup.onWait,
        onStop: (handler) => io.onStop(handler),
        onStopping: (isForced) => {
          io.stderr.write(isForced ? "stopping at once\n" : "interrupting; once more to stop at once\n");
        },
      });
    let end = await drive();
    while (end.standing === "waiting" && !isJson && canAsk(io, io.stderr)) {
      const { askAtTerminal } = await import("../session/ask-person.ts");
      const { answered, isLeaving } = await askAtTerminal(io, ready, end);
      if (answered > 0 || !isLeaving) end = await drive();
      if (isLeaving) break;
    }
    // Nobody is left to look after what runs in the background.
    if (given.has("ephemeral")) await ready.host.ports.processes.endSession(ready.session, { forget: true });
    else await letGo(io, ready.host, ready.session);
    const unwritten = [
      outputPath === null ? null : await writeMessage(outputPath, end),
      attestPath === null
        ? null
        : await (await import("../session/write-attestation.ts")).writeAttestation(attestPath, ready, setup.home, end),
    ].find((failure) => failure !== null);
    shown.end(end, given.has("ephemeral") ? null : ready.session);
    if (given.has("ephemeral") && end.standing === "waiting") {
      io.stderr.write("nothing is kept of an ephemeral session, so it can't be answered: run it without --ephemeral\n");
    }
    if (!given.has("ephemeral")) await pruneDaily(io, setup.home, setup.config, ready.host);
    if (unwritten === undefined) {
      if (attestPath !== null && end.standing === "verified") io.stderr.write(`attested in ${sanitizeLine(attestPath)}\n`);
      return end.exitStatus;
    }
    // A turn that ended otherwise than well says so still: what it came to matters more than the file.
    if (end.exitStatus === 0) throw unwritten;
    io.stderr.write(`holdfast: ${sanitizeLine(unwritten.message)} (${unwritten.code})\n`);
    return end.exitStatus;
  } finally {
    await ready.host.close();
  }
}

async function clarifiedAtTerminal(io: Io, said: Said, { checks }: ReadySession): Promise<Said> {
  const { clarified } = await import("../session/clarify.ts");
  return clarified(said, checks, async (question) => (await import("../session/ask-person.ts")).askLine(io, question));
}

/** Loaded only where a person is asked. */
async function chooseSession(...asked: Parameters<typeof pickSession>): Promise<string> {
  return (await import("../session/pick-session.ts")).pickSession(...asked);
}

function isJsonAsked(given: Arguments): boolean {
  return given.has("json") || given.has("experimental-json");
}

/** What a person wrote as the prompt may name a reusable one; what a program sends is taken as it is. */
async function readPrompt(
  request: Request,
  file: string | undefined,
  wishes: SessionWishes,
  io: Io,
  hasImages: boolean,
): Promise<Said | undefined> {
  if (file !== undefined) {
    if (typeof request.prompt === "string") throw usage(spec, "a prompt and --prompt-file are both given", "keep one of them");
    return { text: await readPromptFile(file, io.cwd), trust: "user" };
  }
  if (request.prompt === undefined) return undefined;
  const text = request.prompt ?? (await io.stdin.readAll(largestPrompt));
  if (text.trim() === "" && hasImages) return { text: "", trust: "user" };
  if (text.trim() === "") throw usage(spec, request.prompt === null ? "there is no prompt: stdin was empty" : "the prompt is empty");
  const plain: Said = { text: text.trim(), trust: "user" };
  if (request.prompt === null || !/^[/$]/.test(plain.text)) return plain;
  const call = readCall(text);
  const home = homeFolder(io.env, io.cwd);
  const { root } = await findWorkspace(wishes.folder, io.cwd, io.env);
  const found = await findPrompts({ home, root, isTrusted: wishes.trustsProject || (await isTrusted(home, root)) });
  if (call !== null && found.prompts.some(({ name }) => name === call.name)) return sayPrompt(found, call.name, call.args);
  const skill = await sayNamedSkill(text, wishes, io);
  if (skill !== null || call === null) return skill ?? plain;
  return sayPrompt(found, call.name, call.args);
}

async function sayNamedSkill(text: string, { folder, trustsProject }: SessionWishes, io: Io): Promise<Said | null> {
  const [{ readSkillCall, saySkill }, { skillsHere }] = await Promise.all([import("../skills/use.ts"), import("../skills/here.ts")]);
  const call = readSkillCall(text);
  if (call === null) return null;
  const { skills } = await skillsHere(folder, io, trustsProject);
  return saySkill(await skills.find(), call.name, call.args);
}

/** Found out before any work is done, not after. */
async function writablePath(flag: string, path: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => null);
  if (folder === null) throw new HoldfastError("usage", `${flag}: there is no folder ${dirname(path)}`);
  if ((await stat(path).catch(() => null))?.isDirectory()) throw new HoldfastError("usage", `${flag}: ${path} is a folder`);
  return path;
}

/**
 * A turn without a final message empties the file, so that nobody takes an earlier turn's for its. What can't be written
 * comes back as the error: the turn has ended all the same, and is shown first.
 */
async function writeMessage(path: string, end: DriveEnd): Promise<HoldfastError | null> {
  const message = end.report?.message ?? "";
  try {
    await writeAtomically(path, message === "" ? "" : `${message}\n`, 0o644);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return new HoldfastError(
      "file_unwritten",
      `-o: the final message could not be written to ${sanitizeLine(path)}: ${sanitizeLine(why)}`,
      {
        hint: "the message stands on stdout",
        cause: error,
      },
    );
  }
}

export const command: Command = { ...spec, run };
