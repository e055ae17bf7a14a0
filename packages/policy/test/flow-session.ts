import type { CallStatus, Item, Json, TrustLabel } from "@holdfast/protocol";
import type { PolicyDecision, ToolHints } from "@holdfast/runtime";
import { createPolicy } from "../src/index.ts";
import { request } from "./world.ts";

type Fields = { readonly [key: string]: Json };

export interface ServerTool {
  readonly description: string;
  readonly properties: Fields;
  readonly hints: ToolHints;
}

const text: Json = { type: "string" };
const texts: Json = { type: "array", items: text };
const looks: ToolHints = { reads: true, destroys: false, reachesOut: false };
const sends: ToolHints = { reads: false, destroys: false, reachesOut: true };
const changes: ToolHints = { reads: false, destroys: true, reachesOut: false };

/** Tools of an office as a server would offer them. */
export const office: Readonly<Record<string, ServerTool>> = {
  find_people: { description: "People by name.", properties: { query: text }, hints: looks },
  find_messages: { description: "Mail that holds the words.", properties: { query: text }, hints: looks },
  list_meetings: { description: "Meetings of a day.", properties: { day: text }, hints: looks },
  list_invoices: { description: "Open invoices.", properties: {}, hints: looks },
  get_profile: { description: "The user's own data.", properties: {}, hints: looks },
  open_document: { description: "A document's text.", properties: { path: text }, hints: looks },
  fetch_page: { description: "A web page.", properties: { url: text }, hints: { ...looks, reachesOut: true } },
  send_mail: { description: "Send an email.", properties: { to: texts, bcc: texts, subject: text, body: text }, hints: sends },
  pay_invoice: {
    description: "Pay money to an account.",
    properties: { account: { type: "string", description: "IBAN" }, amount: { type: "number" } },
    hints: { ...changes, reachesOut: true },
  },
  move_meeting: {
    description: "Move a meeting.",
    properties: { meeting_id: { type: "integer" }, new_start: { type: "string", description: "YYYY-MM-DD HH:MM" } },
    hints: changes,
  },
  cancel_meeting: { description: "Cancel a meeting.", properties: { meeting_id: { type: "integer" } }, hints: changes },
  delete_document: { description: "Delete a document.", properties: { document_id: { type: "integer" } }, hints: changes },
  set_password: { description: "Set a new password.", properties: { password: text }, hints: changes },
  book_room: { description: "Book a room in a hotel.", properties: { hotel: text, day: text }, hints: { ...changes, reachesOut: true } },
};

/** A session with what the user said, and what calls brought. */
export function session(prompt: string) {
  const items: Item[] = [{ kind: "user_message", id: "u1", trust: "user", parts: [{ type: "text", text: prompt }] }];
  const policy = createPolicy();
  let calls = 0;
  const add = (tool: string, input: Json, result: Json, trust: TrustLabel, status: CallStatus): void => {
    const callId = `c${(calls += 1)}`;
    items.push({ kind: "tool_call", id: callId, callId, name: tool, input: JSON.stringify(input) });
    const said = typeof result === "string" ? result : JSON.stringify(result);
    items.push({ kind: "tool_result", id: `${callId}r`, callId, status, text: said, trust });
  };
  const own = {
    /** After the model's answer. */
    says(words: string) {
      items.push({ kind: "assistant_message", id: `a${items.length}`, text: "Well." } as Item);
      return own.adds(words);
    },
    /** While the turn goes on. */
    adds(words: string) {
      items.push({ kind: "user_message", id: `u${items.length}`, trust: "user", parts: [{ type: "text", text: words }] });
      return own;
    },
    saw(tool: string, input: Json, result: Json, trust: TrustLabel = "untrusted") {
      add(`mcp__office__${tool}`, input, result, trust, "completed");
      return own;
    },
    /** A tool of the runtime's own. */
    ran(tool: string, input: Json, result: Json, trust: TrustLabel, status: CallStatus = "completed") {
      add(tool, input, result, trust, status);
      return own;
    },
    /** Calls of one answer that have no result yet; they are decided in their order. */
    proposes(tool: string, ...inputs: readonly Json[]) {
      for (const input of inputs) {
        const callId = `c${(calls += 1)}`;
        items.push({ kind: "tool_call", id: callId, callId, name: `mcp__office__${tool}`, input: JSON.stringify(input) });
      }
      return own;
    },
    async decide(
      tool: string,
      input: Fields,
      more: { readonly isAllowed?: boolean; readonly callId?: string; readonly tools?: Readonly<Record<string, ServerTool>> } = {},
    ): Promise<PolicyDecision> {
      const described = (more.tools ?? office)[tool]!;
      const judge = more.isAllowed === true ? createPolicy({ isMcpAllowed: () => true }) : policy;
      const schema: Json = { type: "object", properties: described.properties };
      return judge.decide({
        ...request({ tool, path: "" }),
        tool: `mcp__office__${tool}`,
        plan: {
          input,
          summary: tool,
          reads: [],
          writes: ["mcp:office"],
          workspace: "none",
          replay: "never",
          changesWorkspace: false,
          mcp: { server: "office", tool, definition: "d" },
        },
        flow: {
          items,
          ...(more.callId === undefined ? {} : { callId: more.callId }),
          tool: { description: described.description, schema, hints: described.hints },
        },
      });
    },
  };
  return own;
}
