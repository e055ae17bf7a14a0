// A process that starts a command and then waits to be killed. Arguments: options of createProcesses (its secrets as a list), the command's spec.
import { createProcesses } from "@holdfast/node/processes/index";
import type { ProcessesOptions } from "@holdfast/node/processes/index";
import type { CommandSpec } from "@holdfast/runtime/ports/processes";

const [options = "", spec = ""] = process.argv.slice(2);
const { secrets = [], ...rest } = JSON.parse(options) as Omit<ProcessesOptions, "secrets"> & { readonly secrets?: readonly string[] };
const running = await createProcesses({ ...rest, secrets: () => secrets }).start(JSON.parse(spec) as CommandSpec);
console.log(running.ref);
await running.ended;
console.log("ended");
