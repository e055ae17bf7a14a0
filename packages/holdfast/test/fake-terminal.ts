import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fakeIo } from "./fake-io.ts";

/** A terminal of 80 columns: what is typed goes in, everything shown comes out. */
export function fakeTerminal(folder: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  let shown = "";
  screen.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const io = fakeIo({ cwd: folder, home: join(folder, "home"), env: { OPENAI_API_KEY: "k", TERM: "xterm", NO_COLOR: "1" } });
  const until = async (text: string) => {
    const started = Date.now();
    while (!shown.includes(text)) {
      if (Date.now() - started > 10_000) throw new Error(`${JSON.stringify(text)} was never shown, but ${JSON.stringify(shown)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    shown = shown.slice(shown.indexOf(text) + text.length);
  };
  return {
    io: {
      ...io,
      stdin: { ...io.stdin, isTTY: true, stream: stdin },
      stdout: { write: (text: string) => void screen.write(text), isTTY: true, columns: 80, stream: screen },
    },
    type: (text: string) => void stdin.write(text),
    /** As the kernel does it: what is read ends, and whatever else is asked of the terminal fails. */
    vanish: () => {
      stdin.setRawMode = () => {
        stdin.emit("error", Object.assign(new Error("setRawMode EIO"), { code: "EIO" }));
        return stdin;
      };
      stdin.end();
    },
    until,
  };
}
