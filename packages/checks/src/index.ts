export { commandCheck } from "./command-check.ts";
export type { VerifierInput } from "./rounds.ts";
export { createVerifier } from "./verifier.ts";
export type { CheckKind, Finding } from "./kinds/kind.ts";
