import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function temporaryFolder(): { readonly folder: string; readonly dispose: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-stores-"));
  return { folder, dispose: async () => rmSync(folder, { recursive: true, force: true }) };
}
