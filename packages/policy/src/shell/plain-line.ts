import { parse } from "unbash";
import { print } from "unbash/printer";
import { longestLine } from "./parse.ts";

/** See `Policy.plainLine`. What stands in quotes and here-documents, and comments within a substitution, stay as they are. */
export function plainLine(line: string): string | null {
  if (line.length > longestLine) return null;
  try {
    const script = parse(line);
    return script.errors === undefined || script.errors.length === 0 ? print(script) : null;
  } catch {
    // Nested deeper than the stack.
    return null;
  }
}
