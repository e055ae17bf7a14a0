import { createMemoryFiles } from "../src/memory-files.ts";
import { filesConformance } from "../../tools/test/files-conformance.ts";

filesConformance("Memory", async () => {
  const files = await createMemoryFiles();
  return {
    files,
    root: files.cwd,
    write: files.write,
    content: async (path) => {
      if (!files.paths().includes(path)) return null;
      return new TextDecoder().decode((await files.read(`${files.cwd}/${path}`, 1_000_000)).bytes);
    },
    close: async () => undefined,
  };
});
