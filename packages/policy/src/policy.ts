import type { Json, ValueOrigin } from "@holdfast/protocol";
import type { Executed, Policy, PolicyDecision, PolicyRequest } from "@holdfast/runtime/ports/policy";
import { aloneFacts } from "./decide/alone.ts";
import { executes } from "./decide/executes.ts";
import type { IsMcpAllowed } from "./decide/facts-of.ts";
import { factsOf } from "./decide/facts-of.ts";
import { type AloneFacts, type FactAnswer, judge, judgePart, unanswered } from "./decide/judge.ts";
import { type JudgedRequest, modeOf, type Part } from "./decide/part.ts";
import type { PolicyPlaces } from "./facts/place.ts";
import { candidatesFor } from "./offers/candidates.ts";
import { grantedRules, offersFrom } from "./offers/offers.ts";
import { builtinRules } from "./rules/builtin.ts";
import type { Mode, Rule } from "./rules/rule.ts";
import { type RuleSet, ruleSet } from "./rules/rule-set.ts";
import { plainLine } from "./shell/plain-line.ts";

export interface PolicyOptions {
  /** The person's home folder. Without it, what starts at `~` counts as outside the workspace. */
  readonly home?: string | null;
  /** Folders for temporary files; default `/tmp`. */
  readonly temporary?: readonly string[];
  /** Holdfast's own home, which no call may change or read. */
  readonly holdfastHome?: string | null;
  /** Folders that the sandbox hides, besides the well-known ones with credentials. */
  readonly masked?: readonly string[];
  /** Real paths in the workspace that the sandbox hides from commands: a tool reads them after a question. Asked at each call. */
  readonly hidden?: () => Promise<readonly string[]>;
  /** Real paths of files in the workspace that hooks and MCP servers run. */
  readonly guarded?: readonly string[];
  /** Tools of MCP servers that the user allowed, by the server's name and the tool's own. */
  readonly isMcpAllowed?: IsMcpAllowed;
  /** Rules of the organisation, the user and the project, beside the built-in ones. */
  readonly rules?: readonly Rule[];
  /** True: nothing is allowed but by `rules`. The built-in reviews and denies hold. */
  readonly isAlone?: boolean;
}

/** What a call came to, step by step. */
export interface Explanation {
  readonly decision: PolicyDecision;
  readonly mode: Mode;
  readonly parts: readonly { readonly part: Part; readonly answers: readonly FactAnswer[] }[];
}

export interface ExplainingPolicy extends Policy {
  digest: NonNullable<Policy["digest"]>;
  executes(line: string, cwd: string): Executed;
  plainLine(line: string): string | null;
  /** May throw where the host can't be asked; `decide` makes a review of that. */
  explain(request: PolicyRequest): Promise<Explanation>;
}

/** The policy: the built-in rules of the session's mode, and those given. `decide` never throws: whatever goes wrong inside becomes a review. */
export function createPolicy(options: PolicyOptions = {}): ExplainingPolicy {
  const places: PolicyPlaces = {
    home: options.home ?? null,
    temporary: options.temporary ?? ["/tmp"],
    holdfastHome: options.holdfastHome ?? null,
    masked: options.masked ?? [],
    hidden: options.hidden ?? (async () => []),
    guarded: options.guarded ?? [],
  };
  const isMcpAllowed = options.isMcpAllowed ?? (() => false);
  const setOf = keepSets(options.rules ?? [], options.isAlone ?? false);

  async function prepare(request: PolicyRequest, granted: readonly Rule[] = []): Promise<Prepared> {
    const mode = modeOf(request);
    const own = setOf(mode, request.isTrusted);
    const rules = granted.length === 0 ? own : ruleSet([...granted, ...own.rules]);
    const known = { places, usesPaths: rules.usesPaths };
    const found = await factsOf(request, known, isMcpAllowed);
    const parts = request.repeatsDoubt ? found.parts.map(withDoubt) : found.parts;
    const judged: JudgedRequest = {
      request,
      mode,
      home: places.home,
      parts,
      provenRead: found.provenRead && !request.repeatsDoubt,
    };
    const { origins } = found;
    return { judged, rules, alone: await aloneFacts(judged, rules, known), ...(origins === undefined ? {} : { origins }) };
  }

  return {
    async decide(request) {
      try {
        const granted = grantedRules(request.granted ?? []);
        const { judged, rules, alone, origins } = await prepare(request, granted);
        const judgement = judge(judged, rules, alone);
        const decision = origins === undefined ? judgement : { ...judgement, origins };
        if (request.wantsOffers !== true || decision.decision !== "review" || decision.scope.unsandboxed === true) return decision;
        const parts = judged.parts.map((part) => ({ part, answers: judgePart(part, judged, rules, alone) }));
        const offers = await offersFrom(candidatesFor(judged, parts, decision), decision, async (rule) => {
          const tried = await prepare(request, [rule, ...granted]);
          return judge(tried.judged, tried.rules, tried.alone);
        });
        return offers.length === 0 ? decision : { ...decision, offers };
      } catch {
        return unanswered;
      }
    },
    executes: (line, cwd) => executes(line, cwd, places.home),
    plainLine,
    async digest(request) {
      const [{ canonical }, { sha256 }, { ruleDataOf }] = await Promise.all([
        import("@holdfast/runtime/canonical"),
        import("@holdfast/runtime/hash"),
        import("./rules/rule-data-of.ts"),
      ]);
      const rules = [...grantedRules(request.granted ?? []), ...setOf(modeOf(request), request.isTrusted).rules];
      return sha256(canonical(rules.map((rule) => [rule.authority, ruleDataOf(rule)]) as unknown as Json));
    },
    async explain(request) {
      const { judged, rules, alone } = await prepare(request);
      return {
        decision: judge(judged, rules, alone),
        mode: judged.mode,
        parts: judged.parts.map((part) => ({ part, answers: judgePart(part, judged, rules, alone) })),
      };
    },
  };
}

interface Prepared {
  readonly judged: JudgedRequest;
  readonly rules: RuleSet;
  readonly alone: AloneFacts;
  readonly origins?: readonly ValueOrigin[];
}

function withDoubt(part: Part): Part {
  return { ...part, facts: [...part.facts, { kind: "repeats_doubt", what: "", scope: {} }] };
}

/** The rules of each mode are laid out once. Those of a project count only while it is trusted. */
function keepSets(given: readonly Rule[], isAlone: boolean): (mode: Mode, isTrusted: boolean) => RuleSet {
  const made = new Map<string, RuleSet>();
  return (mode, isTrusted) => {
    const key = `${mode} ${isTrusted}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const own = given.filter(({ authority }) => isTrusted || authority !== "project");
    const set = ruleSet([...own, ...builtinRules(mode).filter(({ decision }) => !isAlone || decision !== "allow")]);
    made.set(key, set);
    return set;
  };
}
