import { createMemoryBlobs, createMemoryLog } from "@holdfast/stores/memory";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { describeBlobs } from "./blob-conformance.ts";
import { describeLog } from "./conformance.ts";
import { describeForks } from "./fork-conformance.ts";
import { describeSearch } from "./search-conformance.ts";

describeLog("memory", async () => ({ log: createMemoryLog(), dispose: async () => {} }));
describeForks("memory", async () => ({ log: createMemoryLog(), dispose: async () => {} }));
describeSearch("memory", async () => ({ log: createMemoryLog(), dispose: async () => {} }));
describeBlobs("memory", async () => ({ blobs: createMemoryBlobs(), dispose: async () => {} }));

it("the memory stores bundle for a browser without anything of Node", async () => {
  const input = fileURLToPath(new URL("../src/memory.ts", import.meta.url));
  const bundle = await rolldown({ input, platform: "browser", external: /^node:/ });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  const ours = Object.entries(output[0].modules).filter(([id]) => id.includes("/stores/src/"));
  expect(ours.length).toBeGreaterThan(3);
  for (const [, module] of ours) expect(/\b(process|Buffer|require)\b/.test(module.code ?? "")).toBe(false);
});
