/** The durable log of one machine. Node only. What "acknowledged" survives: see `SqliteLogOptions.durability`. */
export { openSqliteLog } from "./sqlite/log.ts";
export type { Durability, SqliteLogOptions } from "./sqlite/file.ts";
