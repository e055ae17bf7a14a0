import type { Item } from "@holdfast/protocol";
import { jsonLine } from "../../render/json-events.ts";
import { fit, table } from "../../render/layout.ts";
import { sanitizeLine, sanitizeOutput } from "../../render/sanitize.ts";
import { renderSession } from "../../render/session.ts";
import { sessionById } from "../../session/find-session.ts";
import { warnOfDamage } from "../../session/warn-of-damage.ts";
import type { Call } from "./call.ts";
import { withStore } from "./call.ts";

export async function show(call: Call, [id = ""]: readonly string[]): Promise<number> {
  const { given, io } = call;
  return withStore(call, async ({ ports, runtime }) => {
    const row = await sessionById(ports, id);
    const view = await runtime.readSession(ports, row.session);
    await warnOfDamage(io, ports, row);
    const isJson = given.has("json");
    if (!given.has("items")) {
      io.stdout.write(isJson ? jsonLine({ type: "session", ...view }) : `${renderSession(view, io.stdout.columns).join("\n")}\n`);
      return 0;
    }
    let turn = 0;
    const rows: (readonly [turn: number, item: Item])[] = [];
    for (const event of view.events) {
      if (event.type === "turn.started") turn += 1;
      for (const item of runtime.itemsOf(event)) rows.push([turn, item]);
    }
    if (isJson) for (const [number, item] of rows) io.stdout.write(jsonLine({ type: "session.item", turn: number, item }));
    else {
      const width = Math.max(io.stdout.columns, 80);
      // What stands before it takes about sixty columns.
      const shown = (item: Item) => (item.kind === "tool_result" ? sanitizeOutput(textOf(item)) : textOf(item));
      const begins = (item: Item) => fit(sanitizeLine(shown(item)), Math.max(width - 60, 24));
      const lines = rows.map(([number, item]) => [item.id, String(number), item.kind.replace("_", " "), begins(item)]);
      io.stdout.write(`${table([["item", "turn", "kind", "begins"], ...lines], width).join("\n")}\n`);
    }
    return 0;
  });
}

/** The beginning is enough to know it by. */
function textOf(item: Item): string {
  switch (item.kind) {
    case "user_message":
      return item.parts.map((part) => (part.type === "text" ? part.text.slice(0, 400) : "[image]")).join(" ");
    case "tool_call":
      return `${item.name} ${item.input.slice(0, 400)}`;
    default:
      return item.text.slice(0, 400);
  }
}
