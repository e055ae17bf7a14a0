import type { Tool } from "@holdfast/runtime/ports/tool-host";
import { applyPatch } from "./apply-patch.ts";
import { askUser } from "./ask-user.ts";
import type { ToolPorts } from "./define.ts";
import { editFile } from "./edit-file.ts";
import { giveUp } from "./give-up.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { readOutput } from "./read-output.ts";
import { runCommand } from "./run-command.ts";
import { search } from "./search.ts";
import { updatePlan } from "./update-plan.ts";
import { viewImage } from "./view-image.ts";
import { writeInput } from "./write-input.ts";
import { writeFile } from "./write-file.ts";

export type { ToolPorts } from "./define.ts";

/** The built-in tools, in the order the request shows them. Without processes there are none that run commands. */
export function createTools(ports: ToolPorts): Tool[] {
  const commands =
    ports.processes === null ? [] : [runCommand(ports, ports.processes), readOutput(ports.processes), writeInput(ports.processes)];
  return [
    readFile(ports),
    editFile(ports),
    writeFile(ports),
    applyPatch(ports),
    search(ports),
    listFiles(ports),
    viewImage(ports),
    ...commands,
    updatePlan,
    askUser,
    giveUp,
  ];
}
