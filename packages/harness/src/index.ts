export { createDirector } from "./director.ts";
export { createToolHost } from "./discovery/tool-host.ts";
export { lookupTool } from "./values/lookup.ts";
export { readSkillTool, searchSkillsTool } from "./skills/skill-tools.ts";
