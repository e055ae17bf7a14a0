import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// A developer's own keys and settings must not reach a test, nor a test's work reach them.
for (const name of Object.keys(process.env)) {
  if (/^(HOLDFAST_(?!TEST_)|OPENAI_)/.test(name)) delete process.env[name];
}

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    setupFiles: ["scripts/seed.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Left to itself vitest keeps a core free, and most tests wait for programs that they start.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
