/** The `holdfast` program. */
import { processIo } from "./cli/process-io.ts";
import { main } from "./program.ts";

const io = processIo();
process.exitCode = await main(process.argv.slice(2), io);
await io.flush();
// What is still open (a socket kept alive, stdin) is nothing that anybody waits for.
process.exit();
