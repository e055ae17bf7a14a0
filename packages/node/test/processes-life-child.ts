// A process that says who it is and whether it takes another for alive, and then waits. Arguments: a home, the other as JSON.
import { createProcesses } from "@holdfast/node/processes/index";
import type { Owner } from "@holdfast/runtime/ports/log";

const [home = "", other = ""] = process.argv.slice(2);
const { owner, isAlive } = createProcesses({ home });
console.log(JSON.stringify({ owner, seesOther: isAlive(JSON.parse(other) as Owner) }));
setInterval(() => {}, 60_000);
