import { literalWord, programOf, type ShellWord, type SimpleCommand } from "../shell/command.ts";
import { hasOption, optionValues, roughOperands } from "../shell/options.ts";
import { joinPath } from "../shell/places.ts";
import type { PathNeed } from "./fact.ts";
import { normalise } from "./place.ts";

/** Another name that a line gives to a file: what is done to the name is done to the file. */
interface Link {
  readonly name: string;
  readonly source: ShellWord;
}

/** Adds what the needs of a line come to behind links that it makes itself. No file shows them yet when the line is judged. */
export function followLinks<T extends { readonly command: SimpleCommand | null; readonly needs: readonly PathNeed[] }>(
  subjects: readonly T[],
  commands: readonly SimpleCommand[],
): readonly T[] {
  const makers = commands.filter(makesLinks);
  if (makers.length === 0) return subjects;
  const links = linksOf(makers);
  return subjects.map((subject) =>
    // What makes a link, or puts another in its place, does nothing to the file behind it.
    subject.command !== null && makers.includes(subject.command)
      ? subject
      : { ...subject, needs: [...subject.needs, ...subject.needs.flatMap((need) => behindLinks(need, links))] },
  );
}

function makesLinks({ words }: SimpleCommand): boolean {
  const program = programOf(words);
  return program === "ln" || program === "gln" || (program === "cp" && hasOption(words.slice(1), "-s", "-l", "--symbolic-link", "--link"));
}

function linksOf(makers: readonly SimpleCommand[]): Link[] {
  return makers.flatMap((command) => {
    const args = command.words.slice(1);
    const operands = roughOperands(args, ["-t", "--target-directory", "-S", "--suffix"]);
    const folder = optionValues(args, ["-t", "--target-directory"])[0];
    const target = folder ?? (operands.length > 1 ? operands.at(-1)! : literalWord("."));
    const sources = folder !== undefined || operands.length < 2 ? operands : operands.slice(0, -1);
    return sources.flatMap((source) => {
      const path = source.literal;
      if (path === null || target.literal === null) return [];
      const name = path.replace(/\/+$/, "").replace(/^.*\//, "");
      return [target.literal, joinPath(target.literal, name)].map((each) => ({ name: normalise(each), source: seenFrom(each, source) }));
    });
  });
}

/** A link's text is read from the folder that the link lies in. */
function seenFrom(link: string, source: ShellWord): ShellWord {
  const folder = link.includes("/") ? link.slice(0, link.lastIndexOf("/") + 1) : "";
  return source.fromHome || folder === "" || source.literal!.startsWith("/") ? source : literalWord(joinPath(folder, source.literal!));
}

/** What a need comes to behind the links, where its path is one or goes through one. */
function behindLinks(need: PathNeed, links: readonly Link[]): PathNeed[] {
  const path = need.word.literal === null ? null : normalise(need.word.literal);
  // What is taken away, or moved, is the link itself.
  if (path === null) return [];
  return links.flatMap(({ name, source }) => {
    const isLink = path === name && need.use !== "delete" && need.use !== "move";
    if (!isLink && !path.startsWith(`${name}/`)) return [];
    const literal = source.literal! + path.slice(name.length);
    return [{ ...need, word: { ...source, text: `${need.word.text} (${literal})`, literal, guesses: [literal] } }];
  });
}
