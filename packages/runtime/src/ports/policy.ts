import type { CallPlan, Decision, Item, Json, NetworkAccess, RiskNote, RuleRef, SandboxMode, Scope, ValueOrigin } from "@holdfast/protocol";
import type { PathIdentity } from "./files.ts";
import type { ToolHints } from "./tool-host.ts";

/** What the session has taken in, as far as rules ask. */
export interface TrustState {
  /** True once the window holds content that nobody vouches for: of the network, MCP servers, an untrusted repository. */
  readonly untrustedInWindow: boolean;
  /** Where that came from, each once, for sentences: `web_fetch example.com`. */
  readonly sources: readonly string[];
}

/** What shows where the values of a call come from. */
export interface FlowState {
  /** All that the model had before it, for a server's tool also in earlier windows, oldest first. The array keeps its identity, and only grows. */
  readonly items: readonly Item[];
  readonly tool: { readonly description: string; readonly schema: Json; readonly hints: ToolHints };
  /** Of the call that is decided, by which it stands among the items. */
  readonly callId?: string;
}

export interface PolicyRequest {
  readonly tool: string;
  readonly plan: CallPlan;
  readonly mode: SandboxMode;
  readonly network: NetworkAccess;
  /** False where commands can't be confined on this machine. */
  readonly canSandbox: boolean;
  readonly isTrusted: boolean;
  /** True while the session only plans: it explores, and changes nothing. */
  readonly isPlanning?: boolean;
  /** Real path of the project's folder, for rules that hold for one project. */
  readonly project?: string;
  /** Absent: nothing untrusted is in the window. */
  readonly trust?: TrustState;
  /** Rules that the person allowed for this session, as data. */
  readonly granted?: readonly Json[];
  /** A person can be asked: with a review, say which rules would allow the call. */
  readonly wantsOffers?: boolean;
  /** Absent: nothing is known of it, and nothing is allowed by it. */
  readonly flow?: FlowState;
  /** A call equal in tool and input is in doubt. */
  readonly repeatsDoubt: boolean;
  readonly identify: (path: string) => Promise<PathIdentity>;
  /** For commands: the file that a bare name means to their shell; null where there is none. Absent: names are what they seem. */
  readonly locate?: (program: string) => Promise<string | null>;
  /** For commands: files the workspace's version control tracks below this real path (`rm -rf` of tracked work). */
  readonly isTracked: (realPath: string) => Promise<boolean>;
}

export interface PolicyDecision {
  readonly decision: Decision;
  readonly rule: RuleRef;
  /** One sentence for the person asked. */
  readonly reason: string;
  /** One sentence for the model: what was refused and what would be allowed. */
  readonly forModel: string;
  /** What an approval would add to the session's mode, or a rule that allows does; granted as it stands here or not at all. */
  readonly scope: Scope;
  /** Set where every part of the command is proven to only read: class `safe`, workspace shared. */
  readonly provenRead: boolean;
  /** For a review: what the person asked should weigh. */
  readonly risk?: RiskNote;
  /** With a review: rules that would allow it, the narrowest first, as data and as the text that would be kept. */
  readonly offers?: readonly { readonly rule: Json; readonly text: string }[];
  /** Where the values that decide come from, for tools of others. */
  readonly origins?: readonly ValueOrigin[];
}

/** What a command line executes, as far as its text tells. Paths are absolute where the line's folder is. */
export interface Executed {
  /** Everything its words may name. */
  readonly paths: readonly string[];
  /** What runs: programs with their folder, scripts, modules. There may be no such file. */
  readonly programs: readonly string[];
  /** False where what runs depends on more than these: on a variable, a glob, code that only exists when it runs. */
  readonly isWhole: boolean;
}

/** The source of rules that a person allowed for a session. */
export const grantedSource = "this session";

/** Deterministic; decides before anything runs. What can't be parsed or proved is never `allow`. Never throws. */
export interface Policy {
  decide(request: PolicyRequest): Promise<PolicyDecision>;
  /** Reads the line alone. Absent: words are taken as they stand. */
  executes?(line: string, cwd: string): Executed | Promise<Executed>;
  /** The line as the shell reads it: without comments, in one spacing, a command a line. Null where it can't be read. Absent: lines are taken as they are. */
  plainLine?(line: string): string | null | Promise<string | null>;
  /** Hex SHA-256 over all rules in force for such a request, in their order; the same rules have the same digest on every machine. */
  digest?(request: Pick<PolicyRequest, "mode" | "isTrusted" | "isPlanning" | "granted">): Promise<string>;
}
