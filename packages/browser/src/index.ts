export { createMemoryFiles, type MemoryFiles, type MemoryFilesOptions } from "./memory-files.ts";
