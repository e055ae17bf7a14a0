import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReplayClass } from "@holdfast/protocol";

/** What a mark is made by, and so how it is counted from outside. */
export type MarkKind = "http" | "mcp" | "command" | "commit" | "edit" | "write" | "patch";

/** One effect that a session is to have, named so that the world tells how often it happened. */
export interface Mark {
  readonly name: string;
  readonly kind: MarkKind;
  readonly replay: ReplayClass;
  /** How the call must have ended where it did, of a command. */
  readonly exitCode?: number;
  /** A part of a command that may be ended with its session, so that it may never come so far. */
  readonly isOptional?: true;
  /** What its call's input holds, where that is not its name. */
  readonly said?: string;
}

interface Call {
  readonly name: string;
  readonly input: object;
}
export interface Step {
  readonly calls: readonly Call[];
  readonly marks: readonly Mark[];
}

/** A session's whole work: the one that is started, and the one that is forked from it. */
export const branches = ["main", "fork"] as const;
export type Branch = (typeof branches)[number];
/** The schema that they are held to in some sessions. */
export const lastWords = '{"done":true}';
export const schema = { type: "object", properties: { done: { type: "boolean" } }, required: ["done"], additionalProperties: false };

/** The checks that a session is given, where it is given any. The second changes a file, so that the first is run once more. */
export const checks = ["git grep -qw after -- main-edit.txt", "date +%s.%N >stamp"] as const;

/** Where the effects of one place go, and what else it has. */
export interface Addresses {
  /** A shop that knows keys, and one that doesn't; with a path for the place. */
  readonly keyed: string;
  readonly plain: string;
  /** A person is asked for what leaves the sandbox; there is no network then. Else nobody is asked, and there is none. */
  readonly isAsked: boolean;
  readonly hasHooks: boolean;
  readonly hasChecks: boolean;
  /** Its commands put out much, beside what its window holds. */
  readonly compacts: boolean;
  readonly hasRecipe: boolean;
  readonly stumbles: boolean;
  /** Long answers are among its results, so that there is something to forget beside the log. */
  readonly isCaredFor: boolean;
  /** Only what leaves the workspace is done, once or several times, or little of what doesn't; else now and then also what takes long. */
  readonly length: "brief" | "outside" | "short" | "usual" | "long";
}

const command = (text: string, more: object = {}): Call => ({ name: "run_command", input: { command: text, ...more } });
const post = (url: string): Call => ({ name: "http_request", input: { url, method: "POST", json: { amount: 1 }, timeout_s: 1 } });
const shop = (tool: string, mark: string): Call => ({ name: `mcp__shop__${tool}`, input: { mark } });

/** The steps of a branch. An asked place runs in the sandbox, and a person allows what leaves it. */
export function stepsOf(
  branch: Branch,
  { keyed, plain, isAsked, hasChecks, compacts, stumbles, isCaredFor, length }: Addresses,
): readonly Step[] {
  const name = (what: string): string => `${branch}-${what}`;
  const mark = (what: string, kind: MarkKind, replay: ReplayClass, more: Partial<Mark> = {}): Mark => ({
    name: name(what),
    kind,
    replay,
    ...more,
  });
  const edit = (what: string): Step => ({
    calls: [{ name: "edit_file", input: { path: `${name(what)}.txt`, edits: [{ old: "before", new: "after" }] } }],
    marks: [mark(what, "edit", "probe")],
  });
  const charging = (n = ""): Step => ({
    calls: [post(`${plain}/${name(`charge${n}`)}`), post(`${keyed}/${name(`payment${n}`)}`)],
    marks: [mark(`charge${n}`, "http", "never"), mark(`payment${n}`, "http", "keyed")],
  });
  const buying = (n = ""): Step => ({
    calls: [shop("charge", name(`mcp${n}-charge`)), shop("pay", name(`mcp${n}-payment`))],
    marks: [mark(`mcp${n}-charge`, "mcp", "never"), mark(`mcp${n}-payment`, "mcp", "keyed")],
  });
  const [charges, mcp] = [charging(), buying()];
  const failing: Step = {
    calls: [command(`echo ${name("failing")} >> ledger; exit 3`, { expect: { exit_code: 3 } })],
    marks: [mark("failing", "command", "probe", { exitCode: 3 })],
  };
  const price = (n = ""): Call => ({ name: "http_request", input: { url: `${plain}/${name(`price${n}`)}`, timeout_s: 1 } });
  const read: Step = { calls: [price(), { name: "search", input: { pattern: "before" } }], marks: [] };
  // With a baseline, what a build makes is recorded.
  const built: Step = {
    calls: [command("make")],
    marks: [mark("built", "command", "probe", { exitCode: 0, said: '"make"' })],
  };
  const asking: Step = { calls: [{ name: "ask_user", input: { question: "Which one?", choices: ["this", "that"] } }], marks: [] };
  const yielded: Step = {
    calls: [command(`echo early >> yields; sleep 0.9; echo ${name("yielded")} >> ledger; sleep 60`, { yield_s: 1 })],
    marks: [mark("yielded", "command", "probe", { isOptional: true })],
  };
  const reviewed = (n = ""): Step => ({
    calls: [command(`rm -rf old && echo ${name(`reviewed${n}`)} >> ledger`)],
    marks: [mark(`reviewed${n}`, "command", "probe", { exitCode: 0 })],
  });
  const wordy = (n: string): Step => ({
    calls: [command(`echo ${name(`wordy${n}`)} >> ledger; seq ${n}00001 ${n}01200`)],
    marks: [mark(`wordy${n}`, "command", "probe", { exitCode: 0 })],
  });
  const stumble = (n: string): Step => ({
    calls: [command(`echo ${name(`stumble${n}`)} >> ledger; exit 4`, { expect: { exit_code: 0 } })],
    marks: [mark(`stumble${n}`, "command", "probe", { exitCode: 4 })],
  });
  const outside = isAsked ? [] : [charges, read, mcp];
  const builds = branch === "main" && hasChecks && !isAsked ? [built] : [];
  const reads: Step[] = branch === "main" && isCaredFor && !isAsked ? [{ calls: ["2", "3", "4"].map(price), marks: [] }] : [];
  if (length === "brief") return [charges, read];
  if (compacts) return [...builds, ...reads, ...(branch === "fork" ? ["5"] : ["1", "2", "3", "4"]).map(wordy)];
  if (stumbles && length !== "long") return [...builds, ...reads, ...(branch === "fork" ? ["4", "5"] : ["1", "2", "3"]).map(stumble)];
  if (length === "outside" && !isAsked) {
    // No name holds another's: a call is found by its mark's.
    const again = ["2", "3", "4"].flatMap((n) => [charging(n), buying(n)]);
    return branch === "fork" ? again.slice(0, 2) : [...builds, ...reads, ...again];
  }
  if (length === "short")
    return branch === "fork"
      ? [...(isAsked ? [reviewed()] : []), edit("edit")]
      : [...(isAsked ? [reviewed(), asking, reviewed("2")] : [...builds, ...reads]), edit("edit"), yielded, asking];
  if (branch === "fork") return [...outside.slice(0, 1), failing, edit("edit")];
  return [
    ...outside,
    {
      calls: [
        command(`sleep 0.1; echo ${name("slow")} >> ledger; sleep 0.1`),
        { name: "write_file", input: { path: `${name("new")}.txt`, content: "after\n" } },
        ...edit("edit").calls,
      ],
      marks: [mark("slow", "command", "probe", { exitCode: 0 }), mark("new", "write", "probe"), mark("edit", "edit", "probe")],
    },
    { calls: [{ name: "apply_patch", input: { patch: patchOf(name("patch")) } }], marks: [mark("patch", "patch", "probe")] },
    ...(isAsked
      ? [reviewed()]
      : [
          {
            calls: [command(`git -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m ${name("commit")}`)],
            marks: [mark("commit", "commit", "probe", { exitCode: 0 })],
          },
        ]),
    ...builds,
    failing,
    asking,
    ...(length === "long" ? [yielded] : []),
  ];
}

/** A patch over three files: one changes, one is made, one goes. All of it happens or none. */
function patchOf(name: string): string {
  return `*** Begin Patch
*** Update File: ${name}-a.txt
@@
-before
+after
*** Add File: ${name}-b.txt
+after
*** Delete File: ${name}-c.txt
*** End Patch`;
}

/** The files of a mark, as they are before the edit and after it; null for one that isn't there. */
export function filesOf({ name, kind }: Mark): Readonly<Record<string, readonly [before: string | null, after: string | null]>> {
  switch (kind) {
    case "edit":
      return { [`${name}.txt`]: ["before\n", "after\n"] };
    case "write":
      return { [`${name}.txt`]: [null, "after\n"] };
    case "patch":
      return {
        [`${name}-a.txt`]: ["before\n", "after\n"],
        [`${name}-b.txt`]: [null, "after\n"],
        [`${name}-c.txt`]: ["before\n", null],
      };
    default:
      return {};
  }
}

/** What a place's program finds at its start: a repository, a home with its config, the server of the MCP tools. */
export function layOut(
  folder: string,
  addresses: Addresses,
): { readonly workspace: string; readonly home: string; readonly counted: string } {
  const [workspace, home, counted] = [join(folder, "workspace"), join(folder, "home"), join(folder, "counted")];
  mkdirSync(join(home, ".holdfast"), { recursive: true, mode: 0o700 });
  mkdirSync(join(workspace, "old"), { recursive: true });
  writeFileSync(join(workspace, "old/x.txt"), "x\n");
  writeFileSync(join(workspace, "Makefile"), "all:\n\t@echo main-built >>ledger\n");
  writeFileSync(join(workspace, "stamp"), "0\n");
  writeFileSync(join(folder, "schema.json"), JSON.stringify(schema));
  const marks = branches.flatMap((branch) => stepsOf(branch, addresses)).flatMap((step) => step.marks);
  for (const mark of marks) {
    for (const [path, [before]] of Object.entries(filesOf(mark))) if (before !== null) writeFileSync(join(workspace, path), before);
  }
  writeFileSync(join(home, ".holdfast/config.toml"), configOf(addresses, counted), { mode: 0o600 });
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", workspace, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "start");
  return { workspace, home, counted };
}

function configOf({ keyed, isAsked, hasHooks, compacts, hasRecipe }: Addresses, counted: string): string {
  const server = join(import.meta.dirname, "counting-server.sh");
  const mcp = `
[mcp.shop]
command = "bash"
args = [${JSON.stringify(server)}, ${JSON.stringify(counted)}]
allow = ["*"]
tool_timeout_ms = 2000
[mcp.shop.keyed]
pay = "key"
`;
  // The hook of `stop` writes down what it is told.
  const tell = `cat >>${join(dirname(counted), "told")}`;
  const hooks = `\n[[hooks.before_tool]]\ncommand = "true"\n[[hooks.stop]]\ncommand = ${JSON.stringify(tell)}\n`;
  const compaction = "[compaction]\ntrigger_tokens = 3000\n";
  const recipe = '[sandbox.reconstitute]\ninstall = ["echo made >>made"]\ntools = ["git"]\n';
  return `[web]\nkeyed_hosts = [${JSON.stringify(new URL(keyed).host)}]\n${isAsked ? "" : mcp}${hasHooks ? hooks : ""}${compacts ? compaction : ""}${hasRecipe ? recipe : ""}`;
}

export function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
