import { stem } from "./stem.ts";
import { chinese, groups } from "./vocabulary.ts";

let related: ReadonlyMap<string, readonly string[]> | undefined;

/** Stems that stand in a group with this one. */
export function relatedTo(word: string): readonly string[] {
  related ??= readGroups();
  return related.get(word) ?? [];
}

function readGroups(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  const relate = (from: string, to: string): void => {
    if (from === to) return;
    const others = found.get(from) ?? new Set();
    found.set(from, others.add(to));
  };
  for (const group of groups.split(";")) {
    const [before = "", after = ""] = group.split(">");
    const oneWay = stemsOf(after);
    for (const mutual of before.split(",").map(stemsOf))
      for (const from of mutual) for (const to of [...mutual, ...oneWay]) relate(from, to);
  }
  return new Map([...found].map(([word, others]) => [word, [...others]]));
}

function stemsOf(words: string): string[] {
  return words.split(/\s+/).filter(Boolean).map(stem);
}

let glossary: ReadonlyMap<string, readonly string[]> | undefined;
const longestEntry = 4;

/** The English stems for what is known of a run of Chinese characters, longest words first. */
export function englishOf(run: string): string[] {
  glossary ??= new Map(
    chinese
      .split(/[;\n]+/)
      .map((entry) => entry.trim().split(" "))
      .flatMap(([word = "", ...english]) => (word === "" ? [] : [[word, english.map(stem)] as const])),
  );
  const found: string[] = [];
  for (let at = 0; at < run.length;) {
    let length = Math.min(longestEntry, run.length - at);
    while (length > 0 && !glossary.has(run.slice(at, at + length))) length -= 1;
    if (length > 0) found.push(...glossary.get(run.slice(at, at + length))!);
    at += Math.max(1, length);
  }
  return found;
}
