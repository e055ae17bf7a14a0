/**
 * Holdfast as a library: sessions over ports that the caller brings, or those of this machine from `openHost`.
 * The words of events and settings are in `@holdfast/protocol`, the ports in `@holdfast/runtime`.
 */
export { acceptChecks, changeSettings, closeSession, createSession, drive, post, readSession } from "@holdfast/runtime";
export type { DriveEnd, DriveOptions, NewSession, Ports, RecordedEvent, SessionView } from "@holdfast/runtime";
export { defaultLimits, exitStatus, HoldfastError, isHoldfastError, strictLimits } from "@holdfast/protocol";
export type { CheckDefinition, Delta, Limits, Op, Outcome, Report, SessionEvent, Settings, Standing } from "@holdfast/protocol";
export { defaultConfig, loadConfig } from "./config/config.ts";
export type { Config } from "./config/config.ts";
export { openHost, openStore } from "./host/node-hosts.ts";
export type { HostOptions, OpenHost, OpenStore } from "./runtime-api.ts";
export { undoSession, type Undone, type UndoOptions, type UndoReach } from "./session/undo.ts";
export { eventAt } from "./undo/point.ts";
export { version } from "./version.ts";
