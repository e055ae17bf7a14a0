import type { NetworkAccess } from "@holdfast/protocol";
import { isMetadataHost, isNamedHost, normalHost } from "@holdfast/runtime/network/hosts";
import type { Fact } from "../facts/fact.ts";
import { provenReads } from "../reads/prove.ts";
import type { SimpleCommand } from "../shell/command.ts";

/**
 * The places where a cloud hands out a machine's credentials, as far as the words of a command name them, in any form that
 * an address can be written in; those on the session's list are left out. `facts` are those of the command.
 */
export function metadataFacts(command: SimpleCommand | null, facts: readonly Fact[], network: NetworkAccess): Fact[] {
  if (command === null) return [];
  const reached = facts.flatMap(({ hosts }) => (hosts === undefined || hosts === "any" ? [] : hosts));
  const talks = facts.some(({ kind, hosts }) => hosts !== undefined || kind === "inline_code");
  const texts = [
    ...command.words.flatMap(({ literal, text, guesses }) => [literal ?? text, ...guesses]),
    ...(command.hereText === null ? [] : [command.hereText]),
  ];
  const named = talks ? texts.flatMap(addressesIn) : provenReads(command) === null ? texts.flatMap(hostOfUrl) : [];
  const names = [...reached, ...named].flatMap((host) => normalHost(host) ?? []);
  const found = [...new Set(names)].filter((name) => isMetadataHost(name) && !isOnList(name, network));
  return found.length === 0 ? [] : [{ kind: "metadata_host", what: found.join(", "), scope: {}, hosts: found }];
}

function isOnList(name: string, network: NetworkAccess): boolean {
  return Array.isArray(network) && [80, 443].some((port) => isNamedHost(name, port, network));
}

/** Whatever program it is for: an address that is a word of its own. */
function hostOfUrl(text: string): string[] {
  const found = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?(\[[^\]]*\]|[^/:?#]+)/i.exec(text)?.[1];
  return found === undefined ? [] : [found];
}

/**
 * Every piece of a text that may be an address or a full name; a bare word such as `metadata` is one in a URL alone. Looks at
 * each character a few times, however long the text is.
 */
function addressesIn(text: string): string[] {
  const six = text.split(/[^0-9a-f:.]+/i).filter((piece) => piece.length <= 64 && /:.*:/.test(piece));
  const pieces = text.split(/[\s/\\:?#@[\]{}()<>,;=|&'"`$!*^~+]+/).filter((piece) => piece.length <= 256 && mayBeAddress(piece));
  const urls = [...text.matchAll(/:\/\/(?:[^@/?#\s'"]*@)?([^/:?#\s'"`\\]+)/g)].map(([, host = ""]) => host);
  return [...new Set([...six, ...six.map((piece) => piece.replace(/(?<!:):$/, "")), ...pieces, ...urls])];
}

/** Numbers as addresses are written, the names of such a place, and what only a reader of URLs makes out. */
function mayBeAddress(piece: string): boolean {
  if (/^\d[\da-fx.]*$/i.test(piece)) return piece.includes(".") || piece.length >= 8;
  return /[^ -~]|%/.test(piece) || (piece.includes(".") && /metadata|instance-data/i.test(piece));
}
