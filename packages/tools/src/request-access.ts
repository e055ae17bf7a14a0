import type { Json } from "@holdfast/protocol/json";
import { z } from "zod";
import { folders, hosts } from "./beyond.ts";
import { defineTool, refuse } from "./define.ts";
import { shownInput } from "./run-command.ts";

const input = shownInput.extend({
  hosts: hosts.optional().describe("to reach, such as registry.npmjs.org or example.org:8443"),
  write: folders.optional().describe("folders or files to write"),
  reason: z.string().describe("for the person who is asked"),
});

/** Stands for run_command with a wish: a person is asked, and grants exactly what is named, for this command alone. */
export const requestAccess = defineTool({
  name: "request_access",
  description: "Run a command with a host or folder that the sandbox refuses. A person is asked; it holds for this command alone.",
  input,
  unwrap({ hosts: wanted, write, reason, ...command }) {
    const beyond = { ...(wanted !== undefined && { hosts: wanted }), ...(write !== undefined && { write }), reason };
    return { name: "run_command", input: { ...command, beyond } as Json };
  },
  plan: async () => refuse("request_access takes the input of run_command and hosts or write, with a reason. Nothing was run."),
  run: async () => {
    throw new Error("request_access runs nothing itself");
  },
});
