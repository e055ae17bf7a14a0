import fc from "fast-check";

/**
 * Property tests draw from one seed, so that a run can be repeated and a red one is never chance. `FC_SEED=random` (or a
 * number) looks elsewhere; what it finds becomes a test of its own.
 */
const wished = process.env["FC_SEED"] ?? "20261129";
if (wished !== "random") fc.configureGlobal({ seed: Number(wished) });
