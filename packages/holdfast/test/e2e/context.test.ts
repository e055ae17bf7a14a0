import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

interface Shown {
  readonly request: { readonly number: number; readonly of: number };
  readonly usage: { readonly inputTokens: number };
  readonly counted: string;
  readonly tokens: number;
  readonly parts: readonly { readonly kind: string; readonly tokens: number; readonly source: string; readonly reason: string }[];
}

test("a request's parts sum up to what the provider counted, each with a source and a reason; two requests are compared", async () => {
  const place = await createPlace((results) =>
    results.length === 0 ? { calls: [{ name: "read_file", input: { path: "README.md" } }] } : { text: "Done." },
  );
  for (const wire of ["openai", "anthropic"] as const) {
    await place.start(["exec", "look"], { wire }).finished;
    const session = await place.session();
    const ask = async (...more: string[]) =>
      place.start(["context", session, ...more], { env: { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "" } }).finished;
    const shown = JSON.parse((await ask("--json")).stdout) as Shown;
    expect(shown).toMatchObject({ request: { number: 2, of: 2 }, usage: { inputTokens: 100 }, counted: "provider", tokens: 100 });
    expect(shown.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(100);
    expect(shown.parts.every(({ source, reason }) => source !== "" && reason !== "")).toBe(true);
    expect(new Set(shown.parts.map(({ kind }) => kind))).toEqual(new Set(["instructions", "world", "goal", "tools", "history"]));
    const compared = await ask("--diff", "1", "2");
    expect(compared.stdout).toContain("what read_file gave");
    expect(compared.code).toBe(0);
    const missing = await ask("--step", "3");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("it has made 2 (usage)")]);
  }
});
