import fc from "fast-check";
import type { DriveEnd, Stop } from "../src/index.ts";
import { drive, post, readSession } from "../src/index.ts";
import type { World } from "./kit.ts";
import { allow, Crash, createTestModel, createTestTool, createWorld, done, newSession, portsOf, say, testCheck } from "./kit.ts";

/** What happens at a stop of the driver. */
const disturbance = fc.constantFrom("nothing", "nothing", "nothing", "interrupt", "steer", "crash", "answer", "yield");
const script = fc.array(
  fc.array(
    fc.record({
      name: fc.constantFrom("read", "write", "ask", "flaky", "nope", "deny", "question"),
      input: fc.integer({ min: 0, max: 3 }),
    }),
    {
      maxLength: 4,
    },
  ),
  {
    minLength: 1,
    maxLength: 4,
  },
);

/** A session with calls of every class, disturbed at any of its stops. */
export const randomSession = fc.record({
  steps: script,
  plan: fc.array(disturbance, { maxLength: 40 }),
  hasCheck: fc.boolean(),
  failures: fc.array(fc.boolean(), { maxLength: 6 }),
});
type RandomSession = typeof randomSession extends fc.Arbitrary<infer T> ? T : never;

/** Plays it until nothing is left to do, each crash going on in another process. */
export async function playSession(
  { steps, plan, hasCheck, failures }: RandomSession,
  onCommit: (world: World, session: string) => Promise<void> = async () => undefined,
) {
  const flaky = createTestTool({
    name: "flaky",
    replay: "never",
    run: async () => {
      throw new Error("no answer");
    },
  });
  const tools = [
    createTestTool({
      name: "read",
      run: async (_, signal) => (signal.aborted ? { status: "interrupted", text: "", trust: "tool" } : done("read")),
    }),
    createTestTool({
      name: "write",
      replay: "probe",
      exclusive: true,
      changesWorkspace: true,
      probe: async () => ({ type: "unknown", look: "it" }),
    }),
    createTestTool({ name: "ask", replay: "keyed" }),
    createTestTool({ name: "deny" }),
    createTestTool({ name: "question", question: { text: "Which?", choices: ["a", "b"], allowsText: true, isMultiple: false } }),
    flaky,
  ];
  let samplings = 0;
  const cut = { class: "cut", message: "cut", status: null, code: null, retryAfterMs: null } as const;
  const model = createTestModel((index) =>
    failures[(samplings += 1)] === true ? { fail: { type: "failed", error: cut } } : { calls: steps[index] ?? [] },
  );
  const policy = (tool: string) => ({
    ...allow,
    decision: tool === "ask" ? ("review" as const) : tool === "deny" ? ("deny" as const) : ("allow" as const),
  });
  const world = createWorld({ model, tools, policy, check: (round) => round > 0 });
  const ports = portsOf(world);
  const session = await newSession(ports, {}, hasCheck ? [testCheck] : []);
  await post(ports, session, say("go"));

  let step = 0;
  const answerAll = async (answer: "allow" | "deny"): Promise<void> => {
    const { openApprovals, openQuestions } = await readSession(world, session);
    for (const { id } of openQuestions) {
      await post(ports, session, { type: "question.answer", questionId: id, answer: { choices: ["a"], text: answer }, by: "test" });
    }
    for (const approval of openApprovals) {
      await post(ports, session, { type: "approval.answer", approvalId: approval.id, answer, by: "test", note: "" });
    }
  };
  const stops = async (stop: Stop): Promise<void> => {
    if (stop.what === "commit" && stop.when === "after") await onCommit(world, session);
    const act = plan[(step += 1)] ?? "nothing";
    if (act === "interrupt") await post(ports, session, { type: "interrupt", by: "test" });
    if (act === "steer") await post(ports, session, say("more"));
    if (act === "crash") throw new Crash("crash");
    if (act === "answer") await answerAll(step % 2 === 0 ? "allow" : "deny");
    if (act === "yield") await new Promise((resolve) => setTimeout(resolve, 1));
  };
  let end: DriveEnd | null = null;
  for (let process = 1; process < 60 && end?.standing !== "idle"; process += 1) {
    try {
      end = await drive(portsOf(world, process), session, { waiting: "return", stops });
      if (end.standing === "waiting") await answerAll("allow");
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }
  return { world, session, model, end };
}
