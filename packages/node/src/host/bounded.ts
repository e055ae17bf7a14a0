import { createContext, Script, type Context } from "node:vm";
import type { Bounded } from "@holdfast/runtime";

/** A pattern that is meant well takes far less, also on a busy machine; all sessions of the process wait for it. */
const mostMs = 500;

/**
 * Node's own way to end what computes (https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options): it
 * interrupts regular expressions too. Nothing is shut in by it, and nothing needs to be: the work is our own code.
 */
export function createBounded(): Bounded {
  const script = new Script("work()");
  let context: Context | null = null;
  return (work) => {
    context ??= createContext({ __proto__: null });
    context["work"] = work;
    try {
      return { value: script.runInContext(context, { timeout: mostMs }) as ReturnType<typeof work> };
    } catch (error) {
      if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return null;
      throw error;
    } finally {
      context["work"] = null;
    }
  };
}
