export { commandCheck } from "./command-check.ts";
export type { CheckKind, Finding, VerifierInput } from "./verifier-input.ts";
export { createVerifier } from "./verifier.ts";
