import { HoldfastError } from "@holdfast/protocol/error";
import type { Ports } from "../ports/index.ts";
import { amend } from "./create.ts";

const longestTitle = 200;

/** What a person typed as a title, on one line and without control characters. Throws `usage` for none, or a huge one. */
export function titleFrom(typed: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to be found
  const title = typed
    .toWellFormed()
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim();
  if (title === "") throw new HoldfastError("usage", "a title must have at least one character");
  if (title.length > longestTitle) {
    throw new HoldfastError("usage", `a title has at most ${longestTitle} characters; this one has ${title.length}`);
  }
  return title;
}

/** Gives a session that nobody drives another title. Throws what `titleFrom` throws, `session_not_found`, `session_busy`. */
export async function renameSession(ports: Ports, session: string, typed: string): Promise<string> {
  const title = titleFrom(typed);
  await amend(ports, session, (driver) =>
    driver.registers.get("session", "")?.title === title ? [] : [{ type: "session.renamed", payload: { title } }],
  );
  return title;
}
