export { createDirector } from "./director.ts";
export { createToolHost } from "./discovery/tool-host.ts";
export { lookupTool } from "./values/lookup.ts";
export { readSkillTool, searchSkillsTool } from "./skills/skill-tools.ts";
export { historyReadTool, historySearchTool } from "./history/tools.ts";
export { noteWriteTool } from "./notes/note-write.ts";
export { searchDocumentsTool } from "./documents/search-documents.ts";
