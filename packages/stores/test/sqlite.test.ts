import { openSqliteLog } from "@holdfast/stores/sqlite";
import { describeLog } from "./conformance.ts";
import { temporaryFolder } from "./folder.ts";

describeLog("SQLite", async () => {
  const { folder, dispose } = temporaryFolder();
  return { log: openSqliteLog(`${folder}/store/sessions.db`), dispose };
});
