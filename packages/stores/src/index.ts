export { createMemoryBlobs, createMemoryLog } from "./memory.ts";
