import { z } from "zod";
import { completed, defineTool, refuse, type ToolPorts } from "./define.ts";
import { whole } from "./input.ts";
import { isRefusal, placeOf } from "./place.ts";

const input = z.strictObject({
  command: z.string().trim().min(1).describe("must end with status 0 when the work is done"),
  name: z.string().trim().min(1).max(80).optional(),
  inputs: z.array(z.string()).optional().describe("globs of the files that decide its result; default: the tests"),
  outputs: z.array(z.string()).optional().describe("globs of what it may write"),
  timeout_s: whole(1, 3600).optional().describe("default 900"),
});

/**
 * One check more that the work is held to. Nothing is run now: the command is decided by the same policy as any other, and the
 * runtime runs it before anything else changes and when the model says that it is done.
 */
export function proposeCheck(ports: ToolPorts) {
  return defineTool({
    name: "propose_check",
    description: "Add a check that your work is held to beside the user's: a command that must succeed at the end. It can't be taken back.",
    input,
    async plan({ command }, context) {
      if (ports.isRedacted(command)) return refuse("The command holds a mark that stands for a secret. Nothing was added.");
      if (command.includes("\0")) return refuse("The command holds a NUL character, which no program can be given. Nothing was added.");
      const place = await placeOf(ports.files, context.cwd, ".");
      if (isRefusal(place)) return place;
      return { summary: `Propose the check: ${command}`, writes: ["checks"], command, cwd: place.real };
    },
    run: async ({ command, name, inputs = [], outputs = [], timeout_s = 900 }) => ({
      ...completed("Added. It runs now, to know how it was, and again when you say that you are done."),
      proposed: { command, name: name ?? command, inputs, outputs, timeoutMs: timeout_s * 1000 },
    }),
  });
}
