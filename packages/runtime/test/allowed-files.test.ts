import type { Approval, Json, Settings } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { answerApproval, drive, grantedSource, post, readSession, type Ports } from "../src/index.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say, testSettings } from "./kit.ts";

const review = { ...allow, decision: "review" as const, scope: { network: ["example.org"] } };
type Step = readonly (readonly ["edit" | "run", Json])[];

/** A reviewed command, and edits that need no yes. `granted` is the rule that allows the command for the session. */
function editing(
  steps: readonly Step[],
  command: string,
  files: Map<string, string>,
  beforeEdit: () => Promise<unknown> = async () => null,
) {
  const ran: Json[] = [];
  const edit = createTestTool({
    name: "edit",
    exclusive: true,
    run: async ({ plan }) => {
      await beforeEdit();
      for (const [path, text] of Object.entries(plan.input as Record<string, string>)) files.set(path, text);
      return done("edited");
    },
  });
  const run = createTestTool({
    name: "run",
    exclusive: true,
    replay: "never",
    command,
    run: async () => {
      ran.push(Object.fromEntries(files));
      return done("ran");
    },
  });
  const model = createTestModel((n) => ({ calls: (steps[n] ?? []).map(([name, input]) => ({ name, input })) }));
  const world = createWorld({
    model,
    tools: [edit, run],
    policy: (name, { granted = [] }) => {
      if (name === "edit") return allow;
      if (granted.includes("g")) return { ...allow, rule: { id: "g", source: grantedSource }, scope: review.scope };
      return { ...review, offers: [{ rule: "g", text: "g" }] };
    },
  });
  const ports: Ports = {
    ...portsOf(world),
    files: {
      identify: async (path: string) => ({ kind: files.has(path) ? "file" : "missing", root: "w", real: path }),
      read: async (path: string) => ({ digest: files.get(path) }),
    } as unknown as Ports["files"],
  };
  return { ports, ran };
}

const yes = ({ id }: Pick<Approval, "id">) => ({ approvalId: id, answer: "allow" as const, by: "me", note: "" });

async function results({ log }: Ports, session: string): Promise<string[]> {
  const { events } = await readSession({ log }, session);
  return events.flatMap((event) => (event.type === "call.settled" ? [event.payload.outcome.text] : []));
}

const script = "/w/./deploy.sh";

describe("what was allowed is compared once more when its turn has come", () => {
  test("an edit and the command that a rule for the session covers, in one answer: the command doesn't run", async () => {
    const steps: Step[] = [
      [["run", {}]],
      [
        ["edit", { [script]: "v2" }],
        ["run", { n: 2 }],
      ],
    ];
    const { ports, ran } = editing(steps, "./deploy.sh", new Map([[script, "v1"]]));
    const { session, end } = await runPrompt(ports);
    await answerApproval(ports, session, { ...yes(end.approvals[0]!), grant: { for: "session", offer: "1" } });
    await drive(ports, session, { waiting: "return" });
    expect(ran).toEqual([{ [script]: "v1" }]);
    expect((await results(ports, session)).at(-1)).toContain("files that it executes have changed since it was allowed");
  });

  test("a yes that comes while an edit before the command runs is for what was shown", async () => {
    const steps: Step[] = [
      [
        ["edit", { [script]: "v2" }],
        ["run", {}],
      ],
      [["run", {}]],
    ];
    let answered = (): void => undefined;
    let asked = 0;
    const edits = new Promise<void>((resolve) => (answered = resolve));
    const { ports, ran } = editing(steps, "./deploy.sh", new Map([[script, "v1"]]), () => edits);
    const session = await newSession(ports);
    await post(ports, session, say("deploy"));
    const end = await drive(ports, session, {
      waiting: "return",
      onEvent: (event) => {
        if (event.type === "approval.requested" && (asked += 1) === 1) void answerApproval(ports, session, yes(event.payload.approval));
        if (event.type === "approval.answered") answered();
      },
    });
    expect(ran).toEqual([]);
    // Proposed again, it is asked again, and then it is for the new content.
    expect(end.approvals).toHaveLength(1);
    await answerApproval(ports, session, yes(end.approvals[0]!));
    await drive(ports, session, { waiting: "return" });
    expect(ran).toEqual([{ [script]: "v2" }]);
  });

  test("where nobody is asked, nobody was shown anything: an edit and its run in one answer go on", async () => {
    const settings: Settings = { ...testSettings, approvals: "allow" };
    const step: Step = [
      ["edit", { [script]: "v2" }],
      ["run", {}],
    ];
    const { ports, ran } = editing([step], "./deploy.sh", new Map([[script, "v1"]]));
    await runPrompt(ports, settings);
    expect(ran).toEqual([{ [script]: "v2" }]);
  });
});

const other = "/w/GNUmakefile";
const again: Step = [["run", { n: 2 }]];

async function granted(ports: Ports): Promise<{ readonly open: number }> {
  const { session, end } = await runPrompt(ports);
  await answerApproval(ports, session, { ...yes(end.approvals[0]!), grant: { for: "session", offer: "1" } });
  return { open: (await drive(ports, session, { waiting: "return" })).approvals.length };
}

describe("a rule for the session", () => {
  test("ends where a file appears that the build tool, or the shell, would take instead", async () => {
    const { ports, ran } = editing([[["run", {}]], [["edit", { [other]: "v1" }]], again], "make deploy", new Map([["/w/Makefile", "v1"]]));
    expect(await granted(ports)).toEqual({ open: 1 });
    expect(ran).toHaveLength(1);
  });

  test("holds for calls that name other files, and not for those that run other programs", async () => {
    for (const [runs, open] of [
      [[], 0],
      [["/w/b"], 1],
    ] as const) {
      const files = new Map([
        ["/w/a", "v1"],
        ["/w/b", "v1"],
      ]);
      const { ports, ran } = editing([[["run", {}]], again], "tool", files);
      const executes = () => {
        const isFirst = ran.length === 0;
        return { paths: isFirst ? [] : ["/w/b"], programs: isFirst ? ["/w/a"] : ["/w/a", ...runs], isWhole: true };
      };
      expect(await granted({ ...ports, policy: { ...ports.policy, executes } })).toEqual({ open });
    }
  });

  test("ends with any change of the workspace where the line doesn't tell what it runs", async () => {
    const { ports, ran } = editing([[["run", {}]], again, [["edit", { x: "v2" }]], again], "./dep*", new Map());
    const policy = { ...ports.policy, executes: () => ({ paths: [], programs: [], isWhole: false }) };
    const snapshot = async () => ({ subject: `s${ran.length > 1}`, manifest: "m", gitTree: null });
    expect(await granted({ ...ports, policy, observer: { ...ports.observer, snapshot } })).toEqual({ open: 1 });
    expect(ran).toHaveLength(2);
  });
});
