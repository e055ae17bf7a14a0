/** Words of the shell that make what follows another reading than one command after the other. */
const unread = new Set(
  "if then elif else fi for while until do done case esac select function set trap shopt alias exec eval source . return [[ { } time coproc".split(
    " ",
  ),
);
const alwaysWell = new Set(["true", ":", "echo", "printf", "pwd", "date", "sleep"]);

/** Ends that make any command before them succeed, also one that isn't read here, such as a subshell. */
const wellEnding = /(?:\|\||;)\s*(?:true|:|exit 0)\s*$/;
const onlyWell = /^(?:\s*(?:true|:|exit 0|(?:echo|printf|pwd|date|sleep)\b[^|&;]*)\s*(?:&&|;|$))+$/;
/** Then a command that fails ends the line. */
const endsAtFailure = /\bset\s+(?:-\w*e|-o\s+errexit)/;

/** The exit status that a shell line ends with whatever there is to be found; null where that isn't certain. */
export function certainStatus(command: string): number | null {
  const steps = stepsOf(command);
  const read = steps === null ? null : statusAfter(steps);
  if (read !== null) return read;
  const isWell = steps === null && wellEnding.test(command) && !endsAtFailure.test(command);
  return isWell || onlyWell.test(command) ? 0 : null;
}

interface Step {
  /** What stands before it. */
  readonly after: ";" | "&&" | "||";
  readonly words: readonly string[];
  /** Null where it isn't certain. */
  readonly status: number | null;
}

function statusAfter(steps: readonly Step[]): number | null {
  let status: number | null = 0;
  /** With what it may have ended before, by an `exit` that was perhaps not reached. */
  const early = new Set<number | null>();
  const whole = (last: number | null): number | null => ([...early].every((one) => one === last) ? last : null);
  for (const { after, words, status: own } of steps) {
    const runs = after === ";" ? true : status === null ? null : (status === 0) === (after === "&&");
    if (runs === false) continue;
    const isExit = words[0] === "exit";
    if (runs === true && isExit) return whole(own);
    if (runs === true) status = own;
    else {
      if (isExit) early.add(own);
      // Before `||` it has either ended well, or what follows decides.
      status = after === "||" && (own === 0 || isExit) ? 0 : null;
    }
  }
  return whole(status);
}

/** The commands of a line in order; null where it has more to it. */
function stepsOf(command: string): Step[] | null {
  const text = command.replace(/\d?>&\d|[&\d]?>\s*\/dev\/null/g, " ");
  const steps: Step[] = [];
  let after: Step["after"] = ";";
  let from = 0;
  let isPlain = true;
  const end = (at: number): boolean => {
    const words = text.slice(from, at).trim().split(/\s+/);
    while (/^\w+=/.test(words[0] ?? "") && words.length > 1) words.shift();
    if (words[0] === "") return after === ";";
    if (unread.has(words[0] ?? "")) return false;
    steps.push({ after, words: isPlain ? words : [], status: isPlain ? statusOf(words) : null });
    isPlain = true;
    return true;
  };
  for (let at = 0; at < text.length; at += 1) {
    const two = text.slice(at, at + 2);
    const one = two[0] ?? "";
    if (one === "\\") at += 1;
    else if (one === "'" || one === '"') {
      const close = closing(text, at);
      if (close === null) return null;
      at = close;
    } else if (two === "&&" || two === "||" || one === ";" || one === "\n") {
      if (!end(at)) return null;
      after = two === "&&" || two === "||" ? two : ";";
      from = at + (after === ";" ? 1 : 2);
      at = from - 1;
    } else if (two === "<<" || "&()`".includes(one)) return null;
    // What a pipe or a file adds may fail.
    else if ("|<>".includes(one)) isPlain = false;
  }
  return end(text.length) ? steps : null;
}

/** Where a quotation ends; null where it doesn't, or runs commands. */
function closing(text: string, from: number): number | null {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at;
    if (quote === "'") continue;
    if (text[at] === "\\") at += 1;
    else if (text[at] === "`" || text.startsWith("$(", at)) return null;
  }
  return null;
}

function statusOf([name = "", ...args]: readonly string[]): number | null {
  if (alwaysWell.has(name)) return 0;
  if (name === "false") return 1;
  return name === "exit" && args.length === 1 && /^\d{1,3}$/.test(args[0] ?? "") ? Number(args[0]) % 256 : null;
}
