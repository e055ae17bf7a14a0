import { z } from "zod";
import { planChanges, prepareChanges, probeChanges, runChanges, type Change } from "./changes.ts";
import { currentContent, currentText } from "./current.ts";
import { defineTool, refuse, type ToolPorts } from "./define.ts";
import { redactedText } from "./edit-file.ts";
import { patchFile } from "./patch/file.ts";
import { parsePatch, type Hunk, type Section } from "./patch/parse.ts";
import { isRefusal, placeOf, type Place } from "./place.ts";
import type { CallContext, CallRefusal } from "@holdfast/runtime/ports/tool-host";

const input = z.strictObject({ patch: z.string() });

const description = `Change several files, all or none:
*** Begin Patch
*** Update File: path
*** Move to: new path (optional)
@@ a line above (optional)
 context
-old
+new
*** Add File: path
+line
*** Delete File: path
*** End Patch`;

/** A section with the places it speaks of. */
interface Target {
  readonly section: Section;
  readonly place: Place;
  readonly to: Place | null;
}

export function applyPatch(ports: ToolPorts) {
  return defineTool({
    name: "apply_patch",
    description,
    input,
    async plan({ patch }, context) {
      const targets = await targetsOf(ports, patch, context);
      if (isRefusal(targets)) return targets;
      const places = targets.flatMap(({ place, to }) => (to === null ? [place] : [place, to]));
      return planChanges(`Patch ${places.map((place) => place.shown).join(", ")}`, places, patch);
    },
    async prepare({ patch }, plan, context) {
      const targets = await targetsOf(ports, patch, context);
      if (isRefusal(targets)) return targets;
      const changes: Change[] = [];
      const notes: string[] = [];
      const problems: string[] = [];
      for (const target of targets) {
        const made = await changesOf(ports, target, context);
        if (isRefusal(made)) problems.push(made.text);
        else {
          changes.push(...made.changes);
          notes.push(...made.notes.map((note) => `${target.place.shown}: ${note}`));
        }
      }
      if (problems.length > 0) return refuse(`No file was changed.\n${problems.join("\n")}`);
      return prepareChanges(ports.blobs, plan, changes, notes);
    },
    run: (_, intent, context, signal) => runChanges(ports, intent, context, signal),
    probe: (_, intent, context) => probeChanges(ports, intent, context),
  });
}

/** Reads the patch and resolves its paths; refuses one that names a file twice, as which comes first would matter. */
async function targetsOf(ports: ToolPorts, patch: string, context: CallContext): Promise<Target[] | CallRefusal> {
  const parsed = parsePatch(patch);
  if (parsed.type === "refused") return refuse(`patch_invalid: ${parsed.text}`);
  const targets: Target[] = [];
  const taken = new Set<string>();
  for (const section of parsed.sections) {
    const place = await placeOf(ports.files, context.cwd, section.path);
    if (isRefusal(place)) return place;
    const moveTo = section.type === "update" ? section.moveTo : null;
    const to = moveTo === null ? null : await placeOf(ports.files, context.cwd, moveTo);
    if (to !== null && isRefusal(to)) return to;
    const isMoved = to !== null && to.real !== place.real;
    for (const each of isMoved ? [place, to] : [place]) {
      if (taken.has(each.real)) return refuse(`patch_invalid: ${each.shown} is in the patch twice. Give all its changes in one section.`);
      taken.add(each.real);
    }
    targets.push({ section, place, to: isMoved ? to : null });
  }
  return targets;
}

type Made = { readonly changes: readonly Change[]; readonly notes: readonly string[] };

async function changesOf(ports: ToolPorts, target: Target, context: CallContext): Promise<Made | CallRefusal> {
  const { section, place } = target;
  switch (section.type) {
    case "add":
      if (place.identity.kind !== "missing") return refuse(`${place.shown} exists already (file_exists); use Update File.`);
      if (ports.isRedacted(section.content)) return refuse(redactedText(place.shown));
      return made({ place, before: null, after: new TextEncoder().encode(section.content), mode: null, movedFrom: null });
    case "delete": {
      const link = await linkProblem(ports, place, section.path, context);
      if (link !== null) return link;
      const before = await currentContent(ports.files, place, context);
      if (before === null) return refuse(`${place.shown} does not exist (file_missing).`);
      return isRefusal(before) ? before : made({ place, before, after: null, mode: null, movedFrom: null });
    }
    case "update":
      return updateOf(ports, target, section.path, section.hunks, context);
  }
}

async function updateOf(
  ports: ToolPorts,
  target: Target,
  path: string,
  hunks: readonly Hunk[],
  context: CallContext,
): Promise<Made | CallRefusal> {
  const { place, to } = target;
  if (to !== null && to.identity.kind !== "missing")
    return refuse(`${place.shown} can't be moved: ${to.shown} exists already (file_exists).`);
  const link = to === null ? null : await linkProblem(ports, place, path, context);
  if (link !== null) return link;
  if (hunks.length === 0 && to !== null) {
    const content = await currentContent(ports.files, place, context);
    if (content === null) return refuse(`${place.shown} does not exist (file_missing).`);
    return isRefusal(content) ? content : moved(place, to, content, content.bytes, []);
  }
  const current = await currentText(ports.files, place, context);
  if (isRefusal(current)) return current;
  const patched = patchFile(current.file, hunks, ports.isRedacted);
  if (patched.type === "refused") return refuse(patched.why === "redacted" ? redactedText(place.shown) : `${place.shown}: ${patched.text}`);
  const after = patched.bytes;
  if (to !== null) return moved(place, to, current.content, after, patched.notes);
  return made({ place, before: current.content, after, mode: null, movedFrom: null }, patched.notes);
}

function moved(from: Place, to: Place, before: Change["before"] & object, after: Uint8Array, notes: readonly string[]): Made {
  return {
    changes: [
      { place: from, before, after: null, mode: null, movedFrom: null },
      { place: to, before: null, after, mode: before.mode, movedFrom: from.real },
    ],
    notes,
  };
}

function made(change: Change, notes: readonly string[] = []): Made {
  return { changes: [change], notes };
}

/** A link that is edited leads to its file; one that is deleted or moved would lose the file and stay itself. */
async function linkProblem(ports: ToolPorts, place: Place, path: string, context: CallContext): Promise<CallRefusal | null> {
  if (!place.identity.crossesLink) return null;
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  const folder = await placeOf(ports.files, context.cwd, cut === -1 ? "." : path.slice(0, cut + 1));
  if (isRefusal(folder)) return folder;
  const name = path.slice(cut + 1);
  const isDirect =
    place.real.endsWith(name) &&
    place.real.length - name.length - 1 === folder.real.replace(/[/\\]$/, "").length &&
    place.real.startsWith(folder.real);
  return isDirect ? null : refuse(`${path} is a link to ${place.real}. Name that file, or remove the link with a command.`);
}
