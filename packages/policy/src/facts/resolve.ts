import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { PathIdentity } from "@holdfast/runtime/ports/files";
import { secretPlace } from "../programs/secrets.ts";
import type { Places, ShellWord } from "../shell/command.ts";
import { joinPath } from "../shell/places.ts";
import type { Fact, FactKind, PathNeed } from "./fact.ts";
import type { Touched } from "../decide/part.ts";
import { isBelow, isRegenerable, isRunLater, isRunLaterOutside, normalise, type PolicyPlaces } from "./place.ts";

/** A command that touches more paths than this is reviewed instead of looked up. */
export const maxLookups = 64;

/** Looks paths up through the host, a bounded number of times for a request. */
export interface Lookup {
  readonly request: PolicyRequest;
  readonly places: PolicyPlaces;
  readonly cwd: string;
  /** True where the line moves files about, so that what is missing now may be there when it is deleted. */
  readonly movesFiles: boolean;
  readonly known: Map<string, Promise<PathIdentity>>;
  left: number;
  /** The same for notes of risk, on which no answer rests. */
  notes: number;
  /** The files that needs came to, for rules that name files. */
  touched: Touched[];
}

export function newLookup(request: PolicyRequest, places: PolicyPlaces, movesFiles: boolean): Lookup {
  return { request, places, cwd: request.plan.cwd ?? "", movesFiles, known: new Map(), left: maxLookups, notes: 8, touched: [] };
}

const fact = (kind: FactKind, what: string, scope: Fact["scope"] = {}): Fact => ({ kind, what, scope });
const about = (kind: FactKind, what: string, real: string, scope: Fact["scope"] = {}): Fact => ({ kind, what, scope, paths: [real] });

export function touch(lookup: Lookup, use: Touched["use"], path: string, identity: PathIdentity | null, isSure = true): void {
  const plain = normalise(path);
  const found = { use, plain, real: identity?.real ?? plain, relative: identity?.relative ?? null, isSure };
  if (!lookup.touched.some((known) => known.use === use && known.plain === plain && known.isSure === isSure)) lookup.touched.push(found);
}

/** Null where the lookups are used up or the host can't tell. */
export async function identify(lookup: Lookup, path: string): Promise<PathIdentity | null> {
  let found = lookup.known.get(path);
  if (found === undefined) {
    if (lookup.left <= 0) return null;
    lookup.left--;
    found = lookup.request.identify(path);
    lookup.known.set(path, found);
  }
  try {
    return await found;
  } catch {
    return null;
  }
}

/** Null where it can't be told: then neither answer may be relied on. */
async function isTracked(lookup: Lookup, real: string): Promise<boolean | null> {
  if (lookup.left <= 0) return null;
  lookup.left--;
  try {
    return await lookup.request.isTracked(real);
  } catch {
    return null;
  }
}

/** What a need comes to, once it is known where its path leads. */
export async function resolveNeed(need: PathNeed, places: Places, lookup: Lookup): Promise<Fact[]> {
  const { word } = need;
  if (need.use === "installed") return isInstalled(word.literal ?? "", places, lookup);
  if (need.use === "move") {
    const { target, ...moved } = need;
    const use = target !== undefined && (await leavesWorkspace(target, places, lookup)) ? "delete" : "write";
    return resolveNeed({ ...moved, use }, places, lookup);
  }
  if (word.literal !== null) {
    const facts: Fact[] = [];
    for (const path of pathsOf(word.literal, word.fromHome, places, lookup)) {
      facts.push(...(path === null ? placeless(need) : await judgePath(need, path, lookup)));
    }
    return need.isGuess === true ? facts.map((each) => ({ ...each, isGuess: true })) : facts;
  }
  const facts: Fact[] = [];
  for (const guess of word.guesses) {
    for (const path of pathsOf(guess, word.fromHome, places, lookup)) {
      if (path === null) continue;
      for (const found of await judgePath({ ...need, isGuess: true }, path, lookup)) facts.push({ ...found, isGuess: true });
    }
  }
  if (need.use !== "delete" && need.use !== "truncate" && need.use !== "restore") return facts;
  // `dist/*.js` stays below dist, whatever it matches; `*` stays where the command runs.
  const folder = word.pattern === null ? null : /^((?:[^*?[\\]*\/)?)[^/]*$/.exec(word.pattern)?.[1];
  if (folder != null) {
    const rest = word.pattern?.slice(folder.length) ?? "";
    if (need.use === "delete" && /^\*?[\w.-]+$/.test(rest) && isRegenerable(rest.replace("*", "x"))) return facts;
    const inside: PathNeed = { ...need, isRecursive: need.isRecursive && /^\.?\*$/.test(rest) };
    for (const path of pathsOf(folder, word.fromHome, places, lookup))
      facts.push(...(path === null ? placeless(need) : await judgePath(inside, path, lookup)));
    return facts;
  }
  return [...facts, fact("loses_work", `${word.text}: what it names isn't known beforehand`)];
}

/** Looks for a tool where npm would: in the folder's own packages, and in those of the folder the call starts from. */
async function isInstalled(path: string, places: Places, lookup: Lookup): Promise<Fact[]> {
  const names = [...pathsOf(path, false, places, lookup), joinPath(lookup.cwd, path)];
  for (const each of names) {
    const identity = each === null ? null : await identify(lookup, each);
    if (identity !== null && identity.kind !== "missing") return [];
  }
  return [fact("network", `${path.slice(path.lastIndexOf("/") + 1)} isn't installed here, so it would be fetched`, { network: "all" })];
}

/** True where a target is, or may be, outside every root: a temporary folder ends with the session. */
async function leavesWorkspace(target: ShellWord, places: Places, lookup: Lookup): Promise<boolean> {
  const values = target.literal === null ? target.guesses : [target.literal];
  for (const value of values) {
    for (const path of pathsOf(value, target.fromHome, places, lookup)) {
      const identity = path === null || path.startsWith("~") ? null : await identify(lookup, path);
      if (path !== null && identity?.root == null) return true;
    }
  }
  return false;
}

/** A relative path in a folder that isn't known. */
function placeless(need: PathNeed): Fact[] {
  const { text, literal } = need.word;
  switch (need.use) {
    case "delete":
    case "truncate":
      return [fact("loses_work", `${text}, in a folder that isn't known beforehand`)];
    case "write":
    case "overwrite":
      if (literal?.startsWith("../") === true || literal === "..")
        return [fact("outside_write", `${text}, beside a folder that isn't known beforehand`, { unsandboxed: true })];
      return literal !== null && isRunLater(literal) ? [fact("protected_write", text)] : [];
    case "read":
    case "list":
    case "installed":
    case "move":
    case "restore":
      return [];
  }
}

/** Every path that a word may mean; null where the folder it starts from isn't known. `~` where the home isn't. */
export function pathsOf(value: string, fromHome: boolean, places: Places, lookup: Lookup): (string | null)[] {
  const { home } = lookup.places;
  if (fromHome && (value === "~" || value.startsWith("~/"))) return [home === null ? value : home + value.slice(1)];
  // Another person's home, or a folder that only a run knows.
  if (fromHome && value.startsWith("~")) return [value];
  if (value.startsWith("/")) return [value];
  if (places === null) return [null];
  return places.map((place) => {
    const isHome = place === "~" || place.startsWith("~/");
    const folder = isHome && home !== null ? home + place.slice(1) : place;
    return joinPath(joinPath(lookup.cwd, folder), value);
  });
}

const quietDevices = /^\/dev\/(?:null|zero|full|stdin|stdout|stderr|tty|random|urandom|fd\/\d+|shm(?:\/.*)?|tcp\/.*|udp\/.*)$/;

async function judgePath(need: PathNeed, path: string, lookup: Lookup): Promise<Fact[]> {
  const plain = normalise(path);
  if (need.use === "read" || need.use === "list") return judgeRead(need, path, plain, lookup);
  if (plain.startsWith("/dev/")) return quietDevices.test(plain) ? [] : [fact("device_write", `${need.word.text} is a device`)];
  const { home, holdfastHome, temporary } = lookup.places;
  if (
    need.use === "delete" &&
    need.isRecursive &&
    (plain === "/" || plain === "~" || plain === home || (lookup.cwd !== "" && plain !== lookup.cwd && isBelow(lookup.cwd, plain)))
  ) {
    return [fact("destroys_system", `${need.word.text} holds more than the workspace`)];
  }
  if (plain.startsWith("~")) {
    touch(lookup, "write", plain, null, need.isGuess !== true);
    return [outside(need, plain)];
  }
  const identity = await identify(lookup, path);
  touch(lookup, "write", path, identity, need.isGuess !== true);
  if (identity === null) return [fact("too_complex", `${need.word.text} can't be looked up`)];
  if (holdfastHome !== null && (isBelow(identity.real, holdfastHome) || isBelow(plain, holdfastHome)))
    return [about("own_records", need.word.text, identity.real)];
  if (identity.root === null) {
    if (temporary.some((folder) => isBelow(identity.real, folder))) return [];
    if (need.use === "restore") return [];
    return [outside(need, identity.real)];
  }
  return judgeInside(need, identity, lookup);
}

function outside(need: PathNeed, real: string): Fact {
  const found = about("outside_write", `${need.word.text} lies outside the workspace`, real, { writable: [real] });
  return isRunLaterOutside(real) ? { ...found, isProtected: true } : found;
}

async function judgeInside(need: PathNeed, identity: PathIdentity, lookup: Lookup): Promise<Fact[]> {
  const isProtected = identity.isProtected || isRunLater(identity.relative ?? "") || lookup.places.guarded.includes(identity.real);
  const facts = await withKept(await judgeUse(need, identity, isProtected, lookup), identity.real, lookup);
  return isProtected ? facts.map((found) => ({ ...found, isProtected })) : facts;
}

/** Version control has what of it is committed: of that a person isn't told that it exists nowhere else. */
async function withKept(facts: Fact[], real: string, lookup: Lookup): Promise<Fact[]> {
  if (!facts.some(({ kind, paths }) => kind === "loses_work" && paths?.includes(real) === true) || lookup.notes <= 0) return facts;
  lookup.notes--;
  const isKept = await lookup.request.isTracked(real).catch(() => false);
  return isKept ? facts.map((each) => (each.kind === "loses_work" ? { ...each, isPartlyKept: true } : each)) : facts;
}

async function judgeUse(need: PathNeed, identity: PathIdentity, isProtected: boolean, lookup: Lookup): Promise<Fact[]> {
  const relative = identity.relative ?? "";
  switch (need.use) {
    case "read":
    case "list":
    case "installed":
    case "move":
      return [];
    case "restore":
      return identity.kind === "missing"
        ? []
        : [about("loses_work", `${need.word.text} would be put back to an earlier state`, identity.real)];
    case "write":
      return isProtected ? [about("protected_write", need.word.text, identity.real, { writable: [identity.real] })] : [];
    case "overwrite": {
      if (isProtected) return [about("protected_write", need.word.text, identity.real, { writable: [identity.real] })];
      if (identity.kind === "directory") {
        const facts: Fact[] = [];
        for (const name of need.inside ?? []) {
          facts.push(
            ...(await judgePath({ use: "overwrite", word: need.word, isRecursive: false }, joinPath(identity.real, name), lookup)),
          );
        }
        return facts;
      }
      // What version control knows is kept there; what it doesn't exists nowhere else.
      return identity.kind === "file" && !isRegenerable(relative) && (await isTracked(lookup, identity.real)) !== true
        ? [about("loses_work", `${need.word.text} would be overwritten`, identity.real)]
        : [];
    }
    case "truncate":
      if (isProtected) return [about("protected_write", need.word.text, identity.real, { writable: [identity.real] })];
      // What may be deleted may be emptied.
      if (isRegenerable(relative) && (await isTracked(lookup, identity.real)) === false) return [];
      return identity.kind === "missing" ? [] : [about("loses_work", `${need.word.text} would lose its content`, identity.real)];
    case "delete":
      if (relative !== "" && isRegenerable(relative) && (await isTracked(lookup, identity.real)) === false) return [];
      if (identity.kind === "missing" && !lookup.movesFiles && !isProtected) return [];
      return [about("loses_work", `${need.word.text} would be deleted`, identity.real)];
  }
}

async function judgeRead(need: PathNeed, path: string, plain: string, lookup: Lookup): Promise<Fact[]> {
  const { home, masked, holdfastHome } = lookup.places;
  const identity = plain.startsWith("~") ? null : await identify(lookup, path);
  touch(lookup, "read", path, identity, need.isGuess !== true);
  const hidden = holdfastHome === null ? masked : [...masked, holdfastHome];
  const real = identity?.real ?? plain;
  for (const each of [plain, real]) {
    const secret = secretPlace(each, home);
    if (secret === "folder" || (secret === "file" && need.use === "read") || hidden.some((folder) => isBelow(each, folder)))
      return [about("secret_read", `${need.word.text} holds credentials`, real)];
  }
  // Not resolved means not proven; the sandbox still hides what must be hidden.
  return identity === null && !plain.startsWith("~") ? [fact("too_complex", `${need.word.text} can't be looked up`)] : [];
}
