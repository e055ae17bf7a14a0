import { isHoldfastError } from "@holdfast/protocol/error";
import type { SearchHit } from "@holdfast/runtime/ports/files";
import { z } from "zod";
import { missingText } from "./current.ts";
import { completed, defineTool, failed, interrupted, type ToolPorts } from "./define.ts";
import { flag, whole } from "./input.ts";
import { fileResource, isRefusal, placeOf, shownPath } from "./place.ts";

const maxChars = 16_000;
const maxLine = 300;
const defaultHits = 100;
const defaultNames = 200;

const input = z.strictObject({
  pattern: z.string().min(1).optional().describe("regular expression looked for in contents"),
  glob: z.string().min(1).optional().describe("only these names, such as src/**/*.ts"),
  path: z.string().optional().describe("folder or file"),
  regex: flag().optional().describe("false: pattern is literal"),
  ignore_case: flag().optional(),
  context: whole(0, 10).optional().describe("lines around a match"),
  limit: whole(1, 1000).optional(),
});
type Input = z.infer<typeof input>;

export function search(ports: ToolPorts) {
  return defineTool({
    name: "search",
    description: "Find files by name, newest first, or with pattern lines in them. Ignored files are left out.",
    input,
    async plan({ pattern, glob, path }, context) {
      const place = await placeOf(ports.files, context.cwd, path ?? ".");
      if (isRefusal(place)) return place;
      const what = [pattern === undefined ? "names" : JSON.stringify(pattern), glob].filter((each) => each !== undefined).join(" in ");
      const isInside = place.identity.root !== null;
      const summary = `Search ${what}${path === undefined ? "" : ` below ${place.shown}`}`;
      return { summary, reads: [fileResource(place.real)], workspace: isInside ? "shared" : "none" };
    },
    async run(wanted, intent, context, signal) {
      const place = await placeOf(ports.files, context.cwd, wanted.path ?? ".");
      if (isRefusal(place)) return failed(place.text);
      if (!intent.plan.reads.includes(fileResource(place.real))) {
        return failed(`${place.shown} now leads elsewhere than when the call was decided. Propose it again.`);
      }
      if (place.identity.kind === "missing") return failed(await missingText(ports.files, place, context.cwd));
      const { pattern } = wanted;
      const text =
        pattern === undefined
          ? await names(ports, wanted, place.real, context.cwd)
          : await contents(ports, { ...wanted, pattern }, place.real, context.cwd, signal);
      if (signal.aborted) return interrupted("The search was interrupted.", signal);
      return completed(text);
    },
  });
}

async function names(ports: ToolPorts, { glob, limit }: Input, path: string, cwd: string): Promise<string> {
  const { paths, truncated } = await ports.files.glob(glob ?? "**", path, limit ?? defaultNames);
  if (paths.length === 0)
    return `No file matches${glob === undefined ? "" : ` ${glob}`}. Ignored files are not looked at unless path names their folder.`;
  return bounded(
    paths.map((each) => shownPath(each, cwd)),
    truncated,
  );
}

async function contents(
  ports: ToolPorts,
  wanted: Input & { pattern: string },
  path: string,
  cwd: string,
  signal: AbortSignal,
): Promise<string> {
  const isSecret = await ports.secretsNow?.();
  // Who was allowed to search a secret file sees it.
  const leaveOut = isSecret === undefined || isSecret(path) ? {} : { leaveOut: isSecret };
  const find = (isRegex: boolean) =>
    ports.files.search(
      {
        pattern: wanted.pattern,
        isRegex,
        ignoreCase: wanted.ignore_case ?? false,
        glob: wanted.glob === undefined ? [] : [wanted.glob],
        path,
        limit: wanted.limit ?? defaultHits,
        context: wanted.context ?? 0,
        ...leaveOut,
      },
      signal,
    );
  const wantsRegex = wanted.regex ?? true;
  let problem: string | null = null;
  const found = await find(wantsRegex).catch((error: unknown) => {
    if (!wantsRegex || !isHoldfastError(error, "tool_input_invalid")) throw error;
    problem = "The pattern is not a valid regular expression and was searched as literal text.";
    return find(false);
  });
  const remark = problem === null ? [] : [problem];
  const note = found.leftOut === 0 ? [] : [leftOutText(found.leftOut)];
  if (found.hits.length === 0) {
    const cut = found.truncated ? "The search was cut off before anything was found; narrow it with path or glob." : "No match.";
    return [...remark, cut, ...note].join("\n");
  }
  return [...remark, bounded(grouped(found.hits, cwd), found.truncated), ...note].join("\n");
}

function leftOutText(count: number): string {
  const files = count === 1 ? "1 file that may hold secrets was" : `${count} files that may hold secrets were`;
  return `[${files} not looked into, whatever is there. Name one as path to search it: a person is asked.]`;
}

/** A heading a file; `12:` before a match, `12-` before a line around one; `--` between stretches that don't touch. */
function grouped(hits: readonly SearchHit[], cwd: string): string[] {
  const lines: string[] = [];
  const hasContext = hits.some((hit) => hit.isContext);
  let last: SearchHit | null = null;
  for (const hit of hits) {
    if (last?.path !== hit.path) lines.push(shownPath(hit.path, cwd));
    else if (hasContext && hit.line > last.line + 1) lines.push("--");
    lines.push(`${hit.line}${hit.isContext ? "-" : ":"} ${hit.text.length > maxLine ? `${hit.text.slice(0, maxLine)}…` : hit.text}`);
    last = hit;
  }
  return lines;
}

function bounded(lines: readonly string[], truncated: boolean): string {
  let chars = 0;
  const end = lines.findIndex((line) => (chars += line.length + 1) > maxChars);
  const shown = end === -1 ? lines : lines.slice(0, end);
  return end === -1 && !truncated
    ? shown.join("\n")
    : `${shown.join("\n")}\n[There is more. Narrow it with path or glob, or raise limit (at most 1000).]`;
}
