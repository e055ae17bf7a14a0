import { rolldown } from "rolldown";

/** Bundles a module with all it imports into one script for a page. Throws where any of it needs Node. */
export async function bundleForBrowser(entry: string): Promise<string> {
  const bundle = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "web-only",
        resolveId: {
          filter: { id: /^node:/ },
          handler: (id, importer) => {
            throw new Error(`${importer ?? entry} imports ${id}, which no browser has`);
          },
        },
      },
    ],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({ format: "esm", minify: false, codeSplitting: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`expected one script, got ${output.map((part) => part.fileName).join(", ")}`);
  return output[0].code;
}
