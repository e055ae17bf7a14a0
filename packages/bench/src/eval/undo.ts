/**
 * Undo held against what agents do: random edits and commands in a repository with a submodule, a repository inside, links that
 * lead out, odd names, CRLF and uncommitted work; then undo, to steps chosen at random and at last to before the session. Each
 * time the tree must be as it was, `.git` must not have been touched, and nothing outside may differ.
 *   npm run eval -- undo [--count SESSIONS] [--seed S] [--deeds 200] [--json]
 */
import type { Json } from "@holdfast/protocol";
import { createScriptModel } from "@holdfast/models";
import type { Ports } from "@holdfast/runtime";
import { defaultConfig, defaultLimits, eventAt, openHost, undoSession } from "holdfast";
import { createRandom } from "../random.ts";
import type { Evaluate } from "./evaluation.ts";
import { deedOf, type Deed } from "./undo/deeds.ts";
import { isIgnored, makeUndoPlace } from "./undo/place.ts";
import { differences, treeOf } from "./undo/tree.ts";

const defaultSessions = 20;
const defaultDeeds = 200;
const deedsATurn = 20;
const undosASession = 3;
const bigBytes = 3_000_000;

interface Found {
  readonly deeds: number;
  readonly undos: number;
  readonly misses: readonly object[];
}

export const evaluate: Evaluate = async ({ count = defaultSessions, seed = "1", rest }) => {
  const given = rest.indexOf("--deeds");
  const deeds = given < 0 ? defaultDeeds : Number(rest[given + 1]);
  let [undos, done] = [0, 0];
  const misses: object[] = [];
  for (let session = 0; session < count; session += 1) {
    const found = await play(Number(seed) * 1_000 + session, deeds);
    undos += found.undos;
    done += found.deeds;
    misses.push(...found.misses);
  }
  return {
    figures: [
      { name: "edits and commands", value: done },
      {
        name: "undos that left anything otherwise than it was",
        value: misses.length,
        goal: `0 of ${undos}`,
        isMet: misses.length === 0 && undos > 0,
        n: undos,
      },
    ],
    misses,
  };
};

async function play(seed: number, deeds: number): Promise<Found> {
  const random = createRandom(seed);
  const place = makeUndoPlace();
  const { workspace, outside } = place;
  const now = (): Map<string, string> => treeOf(workspace, ".git", isIgnored);
  const options = {
    home: place.home,
    isEphemeral: true,
    config: defaultConfig,
    onWait: () => undefined,
    onNote: () => undefined,
    env: { PATH: process.env["PATH"], HOME: place.home },
  };
  const host = await openHost(options, {
    cwd: workspace,
    roots: [{ id: "r1", path: workspace }],
    reach: { sandbox: "off", network: "none", isTrusted: true },
  });
  const misses: object[] = [];
  /** The tree before each step, by its name. */
  const trees = new Map<string, Map<string, string>>();
  const chosen = new Map<string, Deed>();
  let [turn, made] = [0, 0];
  try {
    const model = createScriptModel(
      ({ request }) => {
        const since = request.items.slice(request.items.findLastIndex((item) => item.kind === "user_message") + 1);
        const step = since.filter((item) => item.kind === "tool_call").length;
        if (step >= deedsATurn || made >= deeds) return { text: "Done." };
        const deed = deedOf(random, made, bigBytes);
        made += 1;
        trees.set(`${turn}.${step + 1}`, now());
        chosen.set(`${turn}.${step + 1}`, deed);
        return { calls: [{ name: deed.name, input: deed.input as Record<string, Json> }] };
      },
      { isRecording: false },
    );
    const ports: Ports = { ...host.ports, model: async () => model, policy: { decide: async () => allowed } };
    const mine = { ...host, ports };
    const session = await host.runtime.createSession(ports, {
      roots: [{ id: "r1", path: workspace }],
      cwd: workspace,
      title: "undo",
      checks: [],
      settings: {
        model: "script/undo",
        effort: null,
        sandbox: "off",
        network: "none",
        isTrusted: true,
        approvals: "allow",
        limits: { ...defaultLimits, tokensPerSession: 1_000_000_000, costPerSession: null },
        takesBaseline: false,
        acceptCheckChanges: [],
      },
    });
    const start = now();
    const elsewhere = treeOf(outside, null);
    while (made < deeds) {
      turn += 1;
      await host.runtime.post(ports, session, { type: "input.send", parts: [{ type: "text", text: `part ${turn}` }] });
      await host.runtime.drive(ports, session, { waiting: "return" });
    }
    const points = [...trees.keys()];
    const targets = Array.from({ length: undosASession - 1 }, () => Math.floor(random() * points.length)).sort((a, b) => b - a);
    for (const target of [...targets.map((at) => points[at] ?? ""), "1."]) {
      const git = treeOf(`${workspace}/.git`, null);
      const said = await undoSession(mine, session, {
        reach: { before: eventAt(await ports.log.read(session, 1), session, target) },
        isDry: false,
      }).then(
        () => null,
        (error: Error) => error.message,
      );
      const wrong = [
        ...(said === null ? [] : [said]),
        ...differences(target === "1." ? start : (trees.get(target) ?? new Map()), now()),
        ...differences(git, treeOf(`${workspace}/.git`, null)).map((line) => `.git: ${line}`),
        ...differences(elsewhere, treeOf(outside, null)).map((line) => `outside: ${line}`),
      ];
      if (wrong.length > 0) {
        misses.push({
          seed,
          target,
          wrong: wrong.slice(0, 12),
          deeds: [...chosen].map(([at, { input }]) => `${at} ${JSON.stringify(input)}`),
        });
        break;
      }
    }
    return { deeds: made, undos: targets.length + 1, misses };
  } finally {
    await host.close();
    place.remove();
  }
}

const allowed = {
  decision: "allow",
  rule: { id: "eval", source: "eval" },
  reason: "",
  forModel: "",
  scope: {},
  provenRead: false,
} as const;
