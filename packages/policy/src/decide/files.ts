import { isInsideHost, isMetadataHost, normalHost } from "@holdfast/runtime/network/hosts";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";
import { isBelow, isRunLater, isRunLaterOutside, normalise, type PolicyPlaces } from "../facts/place.ts";
import { identify, type Lookup, newLookup, touch } from "../facts/resolve.ts";
import { secretPlace } from "../programs/secrets.ts";
import type { Part } from "./part.ts";

const prefix = "file:";

/**
 * A call of a file tool. What it touches is what its plan declares (`file:/real/path`); every path is resolved
 * once more here, so a link is judged by where it leads.
 */
export async function filePart(request: PolicyRequest, use: "read" | "edit", places: PolicyPlaces): Promise<Part> {
  const { plan, tool } = request;
  const declared = use === "edit" ? plan.writes : plan.reads;
  const paths = declared.filter((resource) => resource.startsWith(prefix)).map((resource) => resource.slice(prefix.length));
  // A call that doesn't say what it touches can't be judged; a search without a path is one of the workspace.
  if (paths.includes("") || (paths.length === 0 && tool !== "search"))
    return { command: null, run: null, facts: [{ kind: "unknown_tool", what: `${tool} without a path`, scope: {} }], touched: [] };
  const lookup = newLookup(request, places, false);
  const facts: Fact[] = [];
  for (const path of paths) facts.push(...(await judgeFile(path, use, lookup)));
  if (use === "edit" && request.mode === "read-only") facts.push({ kind: "read_only_edit", what: plan.summary || tool, scope: {} });
  facts.push({ kind: use === "edit" ? "file_edit" : "file_read", what: plan.summary || tool, scope: {} });
  return { command: null, run: null, facts, touched: lookup.touched };
}

/** What a command asks for beyond the session's mode: a person's to grant. */
export async function askedPart(request: PolicyRequest, places: PolicyPlaces): Promise<Part[]> {
  const { asks } = request.plan;
  if (asks === undefined) return [];
  const { network = [], writable = [] } = asks.scope;
  const lookup = newLookup(request, places, false);
  const wanted = [...(network === "all" ? ["all hosts"] : network), ...writable].join(", ");
  const facts: Fact[] = [{ kind: "asks_beyond", what: `${wanted} (${asks.why})`, scope: asks.scope }];
  if (request.isPlanning === true && writable.length > 0) facts.push({ kind: "read_only_edit", what: wanted, scope: {} });
  // That it lies outside is what is asked for; what nobody may write stays refused.
  for (const path of writable) facts.push(...(await judgeFile(path, "edit", lookup)).filter(({ kind }) => kind !== "outside_write"));
  for (const entry of network === "all" ? [] : network) {
    const name = normalHost(entry.replace(/:\d+$/, "")) ?? entry;
    const fact = (kind: Fact["kind"]): Fact => ({ kind, what: entry, scope: { network: [entry] }, hosts: [entry] });
    if (isMetadataHost(name)) facts.push(fact("metadata_host"));
    else if (isInsideHost(name)) facts.push(fact("inside_host"));
  }
  return [{ command: null, run: null, facts, touched: lookup.touched }];
}

async function judgeFile(path: string, use: "read" | "edit", lookup: Lookup): Promise<Fact[]> {
  const identity = await identify(lookup, path);
  if (identity === null) return [{ kind: "too_complex", what: `${path} can't be looked up`, scope: {} }];
  touch(lookup, use === "edit" ? "write" : "read", path, identity);
  const fact = (kind: Fact["kind"], what: string, scope: Fact["scope"] = {}): Fact => ({ kind, what, scope, paths: [identity.real] });
  const { home, masked, holdfastHome, temporary } = lookup.places;
  const plain = normalise(path);
  const spellings = [plain, identity.real];
  const isOwn = holdfastHome !== null && spellings.some((each) => isBelow(each, holdfastHome));
  if (isOwn) return [use === "edit" ? fact("own_records", path) : fact("secret_folder", path)];
  const secret = spellings.map((each) => secretPlace(each, home));
  const isMasked = spellings.some((each) => masked.some((folder) => isBelow(each, folder)));
  const isInside = identity.root !== null;
  if (isMasked || secret.includes("folder") || (!isInside && secret.includes("file"))) return [fact("secret_folder", path)];
  // Inside the workspace a person may well mean it: `.env` is asked for, not refused.
  if (use === "read") {
    // A search from above the home would walk through everything in it.
    const walksHome = ["search", "list_folder"].includes(lookup.request.tool) && !isInside && home !== null && isBelow(home, identity.real);
    const isHidden = (await lookup.places.hidden()).some((each) => isBelow(identity.real, each));
    return secret.includes("file") || walksHome || isHidden ? [fact("secret_read", path)] : [];
  }
  if (!isInside) {
    // A sandboxed command has a temporary folder of its own; what we write here is everybody's.
    const isTemporary = temporary.some((folder) => isBelow(identity.real, folder));
    if (isTemporary && lookup.request.mode === "off") return [];
    const why = isTemporary
      ? `${path} lies in the machine's temporary folder, which only commands have their own of`
      : `${path} lies outside the workspace`;
    const outside = fact("outside_write", why, { writable: [identity.real] });
    return [isRunLaterOutside(identity.real) ? { ...outside, isProtected: true } : outside];
  }
  const isProtected = identity.isProtected || isRunLater(identity.relative ?? "") || lookup.places.guarded.includes(identity.real);
  return isProtected ? [{ ...fact("protected_write", path, { writable: [identity.real] }), isProtected: true }] : [];
}
