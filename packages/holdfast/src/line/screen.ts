import { clearScreenDown, createInterface, cursorTo, moveCursor } from "node:readline";
import type { Io, Output } from "../cli/io.ts";
import { canAsk } from "../cli/io.ts";
import { sanitizeLine } from "../render/sanitize.ts";

/** Lines that come quicker than a person types were pasted together and are one input. */
const pasteGapMs = 20;

/** What a keyboard sent before anybody read it comes within this time. */
const heldBackMs = 30;

/** An input, and whether its first key came before the question that stands now was shown. */
export interface Input {
  readonly text: string;
  readonly isEarlier: boolean;
}

/** A terminal on which a person types while lines appear above; or a pipe, from which lines are read one after the other. */
export interface Screen {
  readonly isInteractive: boolean;
  /** Lines above whatever is being typed. Without a terminal: `answer` to stdout, `progress` to stderr. */
  print(lines: readonly string[], kind?: "answer" | "progress"): void;
  /** The next input; null at the end of the input; undefined when the signal aborts first. */
  next(prompt: string, signal?: AbortSignal): Promise<string | null | undefined>;
  /** The same with a question that `setAside` came before: what was typed until then is told apart. */
  nextTyped(prompt: string, signal?: AbortSignal): Promise<Input | null | undefined>;
  /** Called before a question is shown: what is half typed is set aside, and what was typed ahead is no answer to it. */
  setAside(): void;
  /** Puts what was set aside back where the person can go on with it. */
  restore(): void;
  /** Ctrl-C at the keyboard. `typed` is what stood on the line; it is cleared. */
  onInterrupt(handler: (typed: string) => void): () => void;
  close(): void;
}

/** `names`: what Tab completes after a slash at the beginning of a line. `on`: where a person reads. */
export function openScreen(io: Io, names: readonly string[] = [], on: Output = io.stdout): Screen {
  const isInteractive = canAsk(io, on);
  const output = on.stream;
  const readline = createInterface({
    input: io.stdin.stream,
    ...(isInteractive ? { output } : {}),
    terminal: isInteractive,
    historySize: isInteractive ? 200 : 0,
    crlfDelay: Infinity,
    completer: (line: string) => [
      line.startsWith("/") ? names.map((name) => `/${name}`).filter((name) => name.startsWith(line)) : [],
      line,
    ],
  });
  /** With how many questions had been shown when the first of its lines came. */
  const inputs: { readonly text: string; readonly shown: number }[] = [];
  const waiters = new Set<() => void>();
  let pasted: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isAsking = false;
  let aside = "";
  let shown = 0;
  let pastedAt = 0;

  const wake = () => {
    for (const waiter of waiters) waiter();
  };
  const flush = () => {
    timer = null;
    if (pasted.length > 0) inputs.push({ text: pasted.join("\n"), shown: pastedAt });
    pasted = [];
    wake();
  };
  readline.on("line", (line) => {
    if (!isInteractive) {
      inputs.push({ text: line, shown });
      wake();
      return;
    }
    if (pasted.length === 0) pastedAt = shown;
    pasted.push(line);
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(flush, pasteGapMs);
  });
  // Node pauses its input once Ctrl-Z is over, and with nothing left to wait for the program would end.
  readline.on("SIGCONT", () => readline.resume());
  // A terminal that was closed fails whatever is asked of it. That is the end of the input; a close that is under way goes on.
  const end = () => queueMicrotask(() => readline.close());
  readline.on("error", end);
  io.stdin.stream.on("error", end);
  readline.on("close", () => {
    io.stdin.stream.off("error", end);
    if (timer !== null) clearTimeout(timer);
    isClosed = true;
    // Ctrl-D leaves the cursor behind the prompt.
    if (isInteractive && isAsking) on.write("\n");
    flush();
  });

  /** Node keeps what is typed in writable fields; there is no call that clears them. */
  const clearTyped = () => {
    Object.assign(readline, { line: "", cursor: 0 });
  };

  const nextTyped: Screen["nextTyped"] = async (prompt, signal) => {
    if (isInteractive && !isClosed) {
      isAsking = true;
      readline.setPrompt(prompt);
      readline.prompt(true);
    }
    try {
      for (;;) {
        // What was typed ahead stays for the next question where this one is no longer asked.
        if (signal?.aborted === true) return undefined;
        const input = inputs.shift();
        if (input !== undefined) return { text: input.text, isEarlier: isInteractive && input.shown < shown };
        if (isClosed) return null;
        await new Promise<void>((resolve) => {
          const done = () => {
            waiters.delete(done);
            signal?.removeEventListener("abort", done);
            resolve();
          };
          waiters.add(done);
          signal?.addEventListener("abort", done);
        });
      }
    } finally {
      if (isInteractive && !isClosed && isAsking && signal?.aborted === true) {
        cursorTo(output, 0);
        clearScreenDown(output);
      }
      isAsking = false;
    }
  };

  return {
    isInteractive,
    print: (lines, kind = "progress") => {
      if (lines.length === 0) return;
      const text = `${lines.join("\n")}\n`;
      if (!isInteractive) {
        (kind === "answer" ? io.stdout : io.stderr).write(text);
        return;
      }
      if (!isAsking || isClosed) {
        on.write(text);
        return;
      }
      const { rows } = readline.getCursorPos();
      if (rows > 0) moveCursor(output, 0, -rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      // Redrawing begins by moving up as many rows as the typed text took before: those rows are made first.
      on.write(text + "\n".repeat(rows));
      readline.prompt(true);
    },
    nextTyped,
    next: async (prompt, signal) => {
      const typed = await nextTyped(prompt, signal);
      return typed?.text ?? (typed as null | undefined);
    },
    setAside: () => {
      shown += 1;
      if (!isInteractive || readline.line === "") return;
      aside += readline.line;
      clearTyped();
    },
    restore: () => {
      if (aside !== "" && !isClosed) readline.write(aside);
      aside = "";
    },
    onInterrupt: (handler) => {
      const listener = () => {
        const typed = readline.line;
        clearTyped();
        if (isAsking) readline.prompt();
        handler(typed);
      };
      readline.on("SIGINT", listener);
      return () => {
        readline.off("SIGINT", listener);
      };
    },
    close: () => {
      readline.close();
    },
  };
}

/** For one question, where nobody has read the terminal until now: what it held back was typed before, and is no answer. */
export async function openForQuestion(io: Io, on: Output): Promise<Screen> {
  const screen = openScreen(io, [], on);
  if (screen.isInteractive) await new Promise((resolve) => setTimeout(resolve, heldBackMs));
  screen.setAside();
  return screen;
}

/** The first line that was typed after the question was shown. */
export async function nextAnswer(screen: Screen, prompt: string, signal?: AbortSignal): Promise<string | null | undefined> {
  for (;;) {
    const typed = await screen.nextTyped(prompt, signal);
    if (typed?.isEarlier !== true) return typed?.text ?? (typed as null | undefined);
    screen.print([`${JSON.stringify(sanitizeLine(typed.text))} was typed before this was shown, and is not taken for an answer`]);
  }
}
