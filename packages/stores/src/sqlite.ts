/** The durable log of one machine. Node only. What "acknowledged" survives: see `SqliteLogOptions.durability`. */
export { inspectStore, tidyStore, type StoreLeftovers, type StoreLook } from "./sqlite/inspect.ts";
export { openSqliteLog } from "./sqlite/log.ts";
export { salvageStore, type Salvage } from "./sqlite/salvage.ts";
export type { Durability, SqliteLogOptions } from "./sqlite/file.ts";
