export { createProcesses } from "./processes/index.ts";
