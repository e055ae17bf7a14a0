export { createHttpModel, type Fetch, type HttpModelOptions } from "./http-model.ts";
export { responsesWire } from "./responses/wire.ts";
export { chatWire } from "./chat/wire.ts";
export { createModelResolver, type ModelResolverOptions, type ProviderSettings, type ScriptSource } from "./resolve.ts";
export { createScriptModel, type ScriptModel, type ScriptModelOptions } from "./script/model.ts";
export { parseScript } from "./script/parse.ts";
export type { RequestSnapshot } from "./script/snapshot.ts";
export type { Script, ScriptAnswer, ScriptCall, ScriptExpectation, ScriptFailure, ScriptFunction, ScriptStep } from "./script/script.ts";
