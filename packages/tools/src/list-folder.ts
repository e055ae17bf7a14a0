import type { ListedFile } from "@holdfast/runtime/ports/files";
import { z } from "zod";
import { missingText } from "./current.ts";
import { completed, defineTool, failed, type ToolPorts } from "./define.ts";
import { whole } from "./input.ts";
import { fileResource, isRefusal, placeOf, shownPath } from "./place.ts";

/** Files looked at; a larger tree is cut in order of path. */
const mostFiles = 10_000;
const mostLines = 400;
const maxChars = 16_000;
const defaultDepth = 2;

const input = z.strictObject({
  path: z.string().optional(),
  glob: z.string().min(1).optional(),
  depth: whole(1, 50).optional().describe(`default ${defaultDepth}; what is deeper is counted`),
});

export function listFolder(ports: ToolPorts) {
  return defineTool({
    name: "list_folder",
    description: "List files with sizes, sorted by path. Ignored files are left out.",
    input,
    async plan({ path }, context) {
      const place = await placeOf(ports.files, context.cwd, path ?? ".");
      if (isRefusal(place)) return place;
      const isInside = place.identity.root !== null;
      return { summary: `List ${place.shown || "."}`, reads: [fileResource(place.real)], workspace: isInside ? "shared" : "none" };
    },
    async run({ path, glob, depth }, intent, context) {
      const place = await placeOf(ports.files, context.cwd, path ?? ".");
      if (isRefusal(place)) return failed(place.text);
      if (!intent.plan.reads.includes(fileResource(place.real))) {
        return failed(`${place.shown} now leads elsewhere than when the call was decided. Propose it again.`);
      }
      if (place.identity.kind === "missing") return failed(await missingText(ports.files, place, context.cwd));
      const { files, truncated } = await ports.files.list(glob ?? "**", place.real, mostFiles);
      if (files.length === 0) return completed(`No file${glob === undefined ? "" : ` matches ${glob}`}; ignored ones are not looked at.`);
      const lines = linesOf(files, place.real, depth ?? defaultDepth).map(
        ({ path: each, note }) => `${shownPath(each, context.cwd)}${note}`,
      );
      return completed(bounded(lines, files, truncated));
    },
  });
}

interface Line {
  readonly path: string;
  readonly note: string;
}

/** A line a file, and one for each folder deeper than `depth` with what is in it. */
function linesOf(files: readonly ListedFile[], start: string, depth: number): Line[] {
  const folders = new Map<string, { count: number; size: number }>();
  const lines: (Line | string)[] = [];
  for (const { path, size } of files) {
    const separator = path.includes("\\") ? "\\" : "/";
    const below = path
      .slice(start.length)
      .split(separator)
      .filter((part) => part !== "");
    if (below.length <= depth) {
      lines.push({ path, note: `  ${bytes(size)}` });
      continue;
    }
    const folder = [start.replace(/[/\\]$/, ""), ...below.slice(0, depth)].join(separator);
    const known = folders.get(folder);
    if (known === undefined) lines.push(folder);
    folders.set(folder, { count: (known?.count ?? 0) + 1, size: (known?.size ?? 0) + size });
  }
  return lines.map((line) => {
    if (typeof line !== "string") return line;
    const { count, size } = folders.get(line) ?? { count: 0, size: 0 };
    return { path: line, note: `/  ${count} ${count === 1 ? "file" : "files"}, ${bytes(size)}` };
  });
}

function bounded(lines: readonly string[], files: readonly ListedFile[], truncated: boolean): string {
  let chars = 0;
  const end = lines.findIndex((line, at) => at >= mostLines || (chars += line.length + 1) > maxChars);
  const shown = end === -1 ? lines : lines.slice(0, end);
  const rest = [
    ...(end === -1 ? [] : [`${lines.length - end} more lines`]),
    ...(truncated ? [`only the first ${mostFiles} files were looked at`] : []),
  ];
  const size = bytes(files.reduce((sum, each) => sum + each.size, 0));
  const all = `${files.length} ${files.length === 1 ? "file" : "files"}, ${size}`;
  const note = rest.length === 0 ? `[${all}]` : `[${all}; ${rest.join("; ")}; narrow it with path, glob or depth]`;
  return [...shown, note].join("\n");
}

function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 999_950 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
