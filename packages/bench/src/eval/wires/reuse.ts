import type { WireName } from "./server.ts";

/** The list that grows, by wire. */
const lists: Readonly<Record<WireName, string>> = { responses: "input", chat: "messages", messages: "messages", gemini: "contents" };

/** Anthropic's marks of what to cache move on with the conversation. They are no part of what is cached. */
const cacheMark = ',"cache_control":{"type":"ephemeral"}';

/**
 * The share of a request's cacheable prefix, in bytes, with which the next request begins: the body from its first byte to the
 * end of the last item, but for what closes that item (more may be added to it).
 */
export function reuseOf(wire: WireName, before: string, after: string): number {
  const [first, second] = [before, after].map((body) => Buffer.from(body.replaceAll(cacheMark, "")));
  if (first === undefined || second === undefined) return 0;
  const length = prefixLength(wire, first.toString());
  let same = 0;
  while (same < length && first[same] === second[same]) same += 1;
  return same / length;
}

/** Bytes up to the end of the last item; the brackets that close it are not counted. */
function prefixLength(wire: WireName, body: string): number {
  const names = Object.keys(JSON.parse(body) as object);
  const later = names.slice(names.indexOf(lists[wire]) + 1);
  const marks = later.map((name) => body.lastIndexOf(`,${JSON.stringify(name)}:`)).filter((at) => at >= 0);
  const end = Math.min(body.length - 1, ...marks);
  return Buffer.byteLength(body.slice(0, end).replace(/[\]}]*$/, ""));
}
