import type { CallOutcome } from "@holdfast/protocol";
import type { Driver } from "./driver.ts";

/** Larger files that an expectation names are not looked at: what it says of them stays unknown. */
const mostLooked = 64 * 1024 * 1024;

/** Digests of the files that an expectation names, by the path it gives; null where nothing is to be looked at. */
export async function lookAt(driver: Driver, paths: readonly string[]): Promise<ReadonlyMap<string, string | null> | null> {
  if (paths.length === 0) return null;
  const { files } = driver.ports;
  const digests = new Map<string, string | null>();
  for (const path of paths) {
    const { real, kind } = await files.identify(path);
    if (kind === "missing") digests.set(path, null);
    else if (kind === "file") {
      const content = await files.read(real, mostLooked).catch(() => null);
      if (content !== null) digests.set(path, content.digest);
    }
  }
  return digests;
}

export async function lookAgain(driver: Driver, before: ReadonlyMap<string, string | null>): Promise<NonNullable<CallOutcome["files"]>> {
  const after = await lookAt(driver, [...before.keys()]);
  return [...before].flatMap(([path, digest]) => {
    const now = after?.get(path);
    return now === undefined ? [] : [{ path, before: digest, after: now }];
  });
}
