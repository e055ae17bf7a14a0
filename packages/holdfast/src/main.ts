/** The `holdfast` program. */
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { processIo } from "./cli/process-io.ts";
import { homeFolder } from "./config/home.ts";
import { main, tell } from "./program.ts";

const io = processIo();
// Commands load their parts later, compiled ones where they are kept. Only in our own folder, which nobody else can write.
try {
  const home = homeFolder(io.env, io.cwd);
  if (existsSync(home)) enableCompileCache(join(home, "cache", "compile"));
} catch {
  // A folder that is gone is told by whatever needs it.
}
// Node would write its stack as it is, and secrets may be in its message.
process.on("uncaughtException", (error) => {
  tell(error, io);
  process.exit(1);
});
process.exitCode = await main(process.argv.slice(2), io);
await io.flush();
// Whoever takes the output from a file would take half of it for all.
if (io.isOutputLost() && process.exitCode === 0) process.exitCode = 1;
// What is still open (a socket kept alive, stdin) is nothing that anybody waits for.
process.exit();
