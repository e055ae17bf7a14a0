import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { runLineMode } from "../line/line-mode.ts";
import { slashCommands } from "../line/slash.ts";
import { openScreen } from "../line/screen.ts";
import { findPrompts } from "../prompts/find.ts";
import { skillsOf } from "../skills/here.ts";
import { markOf, modeOf } from "../policy/modes.ts";
import { spread, wrap } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts } from "../runtime-api.ts";
import { checkFromCommand } from "../session/checks.ts";
import type { SessionWishes } from "../session/flags.ts";
import { readWishes, sessionFlags } from "../session/flags.ts";
import { pickSession } from "../session/pick-session.ts";
import { pruneDaily } from "../session/retention.ts";
import { retrying } from "../session/drive-turn.ts";
import type { ReadySession } from "../session/start.ts";
import { checkedModel, notesOf, openSetup, resumeSession, setupFor, startSession, titleOf } from "../session/start.ts";
import { version } from "../version.ts";

const spec: CommandSpec = {
  name: "",
  summary: "Line mode: type what to do, see it done step by step, steer while it works.",
  usage: ["holdfast [flags]", "holdfast [flags] --resume ID", "holdfast [flags] --last"],
  flags: {
    ...sessionFlags,
    resume: { kind: "string", value: "ID", help: "go on with this session" },
    last: { kind: "boolean", help: "go on with the newest session of this folder" },
  },
  words: { min: 0, max: 0, named: "nothing" },
  notes: [
    "/help names the commands. What you type while a turn runs steers it; Ctrl-C interrupts it. Calls that need a person are shown with their exact input and what allowing them grants.",
    "With input from a pipe each line is one prompt, taken when the turn before it is over; a call that needs a person takes the next line as its answer.",
  ],
  examples: [
    ["holdfast --model openai/NAME", "a new session in this folder"],
    ['holdfast --last --check "npm test"', "the newest session, held to a check from now on"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  if (given.has("resume") && given.has("last")) throw usage(spec, "--resume and --last are both given", "one of them names the session");
  const resumes = given.has("resume") || given.has("last") ? { id: given.value("resume") ?? null } : null;
  return runLine(given, readWishes(spec, given), resumes, io, hosts);
}

/** `resumes`: a session by its id, the newest (`id` null), one that the person chooses, or a new one (null). */
export async function runLine(
  given: Arguments,
  asked: SessionWishes,
  resumes: { readonly id: string | null } | "asks" | null,
  io: Io,
  hosts: Hosts,
): Promise<number> {
  let wishes = asked;
  const isResumed = resumes !== null;
  // Once there is a prompt, a note stands above it.
  let note = (text: string): void => io.stderr.write(`${spread(text, io.stderr)}\n`);
  const onNote = (message: string): void => note(sanitizeLine(message));
  let setup = await openSetup(io, { profile: given.value("profile"), overrides: given.values("config"), onNote });
  let ready: ReadySession | null = null;
  let goesOn = false;
  /** What was said of plan mode before there is a session. */
  let planned: Pick<SessionWishes, "sandbox" | "isPlanning"> = {};
  if (resumes !== null) {
    const id = resumes === "asks" ? await pickSession(io, hosts, setup, wishes.folder) : resumes.id;
    const resumed = await resumeSession(io, hosts, setup, { ...wishes, outputSchema: null }, id);
    goesOn = resumed.view.row.status !== "idle";
    ready = resumed;
    wishes = { ...wishes, checks: resumed.view.checks.map((check) => check.name) };
  }
  const workspace = ready?.workspace ?? (await findWorkspace(wishes.folder, io.cwd, io.env));
  const trusted = wishes.trustsProject || (await isTrusted(setup.home, workspace.root));
  setup = await setupFor(setup, workspace.root, trusted);
  let model = ready?.model ?? (await checkedModel(wishes.model, setup.config, io));
  const prompts = () => findPrompts({ home: setup.home, root: workspace.root, isTrusted: trusted });
  const library = skillsOf(setup.config, {
    home: setup.home,
    env: io.env,
    roots: [workspace.root],
    cwd: workspace.cwd,
    isTrusted: trusted,
  });
  const names = [...(await prompts()).prompts, ...(await library.find()).skills].map(({ name }) => name);
  const current = () => ready;
  let letGo = async (): Promise<void> => undefined;
  const hold = async ({ host, session }: ReadySession): Promise<void> => {
    await letGo();
    letGo = await host.runtime.holdSession(host.ports, session);
  };
  const screen = openScreen(io, [...Object.keys(slashCommands), ...names]);
  const style = createStyle(usesColour(io.stdout, io.env));
  const width = () => Math.max(40, io.stdout.columns);
  note = (text) => screen.print(wrap(text, width()));
  const mark = markOf(
    ready?.mode ?? modeOf({ sandbox: wishes.sandbox ?? setup.config.sandbox.mode, isPlanning: wishes.isPlanning === true }),
  );
  const welcome = [
    ...wrap(`holdfast ${version} · ${sanitizeLine(model)} · ${sanitizeLine(workspace.cwd)}`, width()).map(style.dim),
    ...(trusted ? [] : wrap("this project is not trusted: an AGENTS.md in it is not obeyed (holdfast trust)", width()).map(style.dim)),
    ...(ready?.notes ?? notesOf(setup)).flatMap((note) => wrap(note, width()).map(style.dim)),
    ...(mark === null ? [] : wrap(mark, width()).map(style.care)),
    style.dim("/help names the commands"),
  ];
  try {
    if (ready !== null) await hold(ready);
    const status = await runLineMode({
      io,
      screen,
      welcome,
      goesOn,
      ...retrying(setup.config),
      begin: async (prompt) => {
        if (ready === null) {
          ready = await startSession(
            io,
            hosts,
            setup,
            { ...wishes, ...planned, model },
            { title: titleOf(prompt), defaultApprovals: "ask" },
          );
          await hold(ready);
        }
        return ready;
      },
      slash: {
        current,
        folders: [...new Set([workspace.cwd, workspace.root])],
        model: () => model,
        setModel: async (name) => {
          const chosen = await checkedModel(name, setup.config, io);
          if (ready !== null) await ready.host.runtime.changeSettings(ready.host.ports, ready.session, { model: chosen });
          model = chosen;
        },
        setPlanning: async (isPlanning) => {
          const sandbox = isPlanning
            ? "read-only"
            : wishes.isPlanning === true
              ? "workspace-write"
              : (wishes.sandbox ?? setup.config.sandbox.mode);
          if (ready !== null) await ready.host.runtime.changeSettings(ready.host.ports, ready.session, { sandbox, isPlanning });
          else planned = { sandbox, isPlanning };
        },
        checks: () => (isResumed ? wishes.checks : [...new Set([...(setup.config.checks.commands ?? []), ...wishes.checks])]),
        addCheck: async (command) => {
          if (ready !== null) {
            const check = checkFromCommand(command);
            await ready.host.runtime.acceptChecks(ready.host.ports, ready.session, [check]);
            ready = { ...ready, checks: [...ready.checks, check] };
          }
          wishes = { ...wishes, checks: [...wishes.checks, command] };
        },
        fork: async (title) => {
          if (ready === null) return null;
          const { host, session } = ready;
          const made = await host.runtime.forkSession(host.ports, session, title === "" ? {} : { title });
          // What it left running belongs to the one that is left.
          await host.runtime.closeSession(host.ports, session);
          ready = { ...ready, session: made.session, earlier: [] };
          await hold(ready);
          return made.session;
        },
        prompts,
        skills: library.find,
        openStore: () => hosts.openStore(setup),
        style,
        width,
      },
    });
    const { host } = current() ?? {};
    if (host !== undefined) await pruneDaily(io, setup.home, setup.config, host);
    return status;
  } finally {
    screen.close();
    await letGo();
    await ready?.host.close();
  }
}

export const command: Command = { ...spec, run };
