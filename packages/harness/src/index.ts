export { createDirector } from "./director.ts";
export { createToolHost } from "./discovery/tool-host.ts";
export { lookupTool } from "./values/lookup.ts";
