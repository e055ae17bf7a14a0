import { openSqliteLog } from "@holdfast/stores/sqlite";
import { describeLog } from "./conformance.ts";
import { describeForks } from "./fork-conformance.ts";
import { describeSearch } from "./search-conformance.ts";
import { temporaryFolder } from "./folder.ts";

const open = async () => {
  const { folder, dispose } = temporaryFolder();
  return { log: openSqliteLog(`${folder}/store/sessions.db`), dispose };
};
describeLog("SQLite", open);
describeForks("SQLite", open);
describeSearch("SQLite", open);
