import { z } from "zod";

/** Anything that survives `JSON.parse(JSON.stringify(x))`. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
