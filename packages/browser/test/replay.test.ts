import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { bundleForBrowser } from "./bundle.ts";
import { runInPage } from "./chromium.ts";
import type { RecordedLog } from "./replay-logs.ts";
import { expectedOf, recordings, replayLogs } from "./replay-logs.ts";

let logs: readonly RecordedLog[];
beforeAll(async () => {
  const texts = await Promise.all(recordings.map((name) => readFile(join(import.meta.dirname, "fixtures", name), "utf8")));
  logs = texts.flatMap((text) => JSON.parse(text) as RecordedLog[]);
});

test("recorded logs replay in Node with the digests of the day they were recorded", async () => {
  expect(await replayLogs(logs)).toEqual(expectedOf(logs));
  // One over each wire.
  expect(logs.filter(({ bodies }) => bodies > 0)).toHaveLength(4);
});

test("and with the same digests in Chromium", async () => {
  const script = await bundleForBrowser(join(import.meta.dirname, "replay-page.ts"));
  const { value, errors } = await runInPage(script, logs);
  expect(errors).toEqual([]);
  expect(value).toEqual(expectedOf(logs));
});
