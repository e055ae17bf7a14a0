export * from "./hash.ts";
export * from "./ports/index.ts";
