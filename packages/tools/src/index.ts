import type { Tool } from "@holdfast/runtime/ports/tool-host";
import { applyPatch } from "./apply-patch.ts";
import { askUser } from "./ask-user.ts";
import type { ToolPorts } from "./define.ts";
import { editFile } from "./edit-file.ts";
import { giveUp } from "./give-up.ts";
import { httpRequest } from "./http-request.ts";
import { listFolder } from "./list-folder.ts";
import { proposeCheck } from "./propose-check.ts";
import { readFile } from "./read-file.ts";
import { readOutput } from "./read-output.ts";
import { requestAccess } from "./request-access.ts";
import { runCommand } from "./run-command.ts";
import { search } from "./search.ts";
import { updatePlan } from "./update-plan.ts";
import { viewImage } from "./view-image.ts";
import { writeInput } from "./write-input.ts";
import { webFetch } from "./web-fetch.ts";
import { webSearch } from "./web-search.ts";
import { writeFile } from "./write-file.ts";

export type { ToolPorts } from "./define.ts";
export type { HttpPorts, SearchModel, SearchProvider, SearchService } from "./http/ports.ts";

/** The built-in tools, in the order the request shows them. Without processes there are none that run commands. */
export function createTools(ports: ToolPorts): Tool[] {
  const { processes, http } = ports;
  const commands = processes === null ? [] : [runCommand(ports, processes)];
  const inputs = processes === null ? [] : [writeInput(processes), requestAccess];
  const outputs = processes === null && http === undefined ? [] : [readOutput(ports)];
  const web = http === undefined ? [] : [httpRequest(ports, http), webFetch(ports, http)];
  const searches = http === undefined || http.search === null ? [] : [webSearch(http, http.search)];
  return [
    readFile(ports),
    editFile(ports),
    writeFile(ports),
    applyPatch(ports),
    search(ports),
    listFolder(ports),
    viewImage(ports),
    ...commands,
    ...outputs,
    updatePlan,
    askUser,
    giveUp,
    ...[...inputs, ...web, ...searches].map((tool) => ({ ...tool, isDeferred: true })),
    ...(processes === null ? [] : [{ ...proposeCheck(ports), isDeferred: true, isUnnamed: true }]),
  ];
}
