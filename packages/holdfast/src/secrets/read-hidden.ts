import type { Io } from "../cli/io.ts";

/** A line that is typed without being shown; null where the person leaves (Ctrl-C, Ctrl-D). */
export function readHidden(io: Io, prompt: string): Promise<string | null> {
  const input = io.stdin.stream as NodeJS.ReadStream;
  io.stderr.write(prompt);
  return new Promise((resolve) => {
    let typed = "";
    const end = (value: string | null): void => {
      input.off("data", take);
      input.setRawMode(false);
      input.pause();
      io.stderr.write("\n");
      resolve(value);
    };
    const take = (chunk: Buffer): void => {
      for (const character of chunk.toString("utf8")) {
        if (character === "\r" || character === "\n") return end(typed);
        if (character === "\u0003" || character === "\u0004") return end(null);
        if (character === "\u007f" || character === "\b") typed = [...typed].slice(0, -1).join("");
        else if (character >= " ") typed += character;
      }
    };
    input.setRawMode(true);
    input.on("data", take);
    input.resume();
  });
}
