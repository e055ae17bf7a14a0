/** Cuts a stream of UTF-8 bytes into lines. */
export interface LineSplitter {
  /** The lines that these bytes complete, without their ends. */
  push(chunk: Uint8Array): string[];
  /** Lines that were longer than the bound and are lost. */
  dropped(): number;
}

const newline = 0x0a;
const firstRoom = 4096;

export function splitLines(longest: number): LineSplitter {
  // One piece of memory, whatever the chunks are like: an object for each would take many times its bytes.
  let room = new Uint8Array(firstRoom);
  let size = 0;
  let isTooLong = false;
  let count = 0;
  const decoder = new TextDecoder();

  const grow = (needed: number): void => {
    const larger = new Uint8Array(Math.min(longest, Math.max(needed, 2 * room.length)));
    larger.set(room.subarray(0, size));
    room = larger;
  };
  const take = (part: Uint8Array): void => {
    if (isTooLong || size + part.length > longest) {
      if (!isTooLong) count += 1;
      isTooLong = true;
      forget();
      return;
    }
    if (size + part.length > room.length) grow(size + part.length);
    room.set(part, size);
    size += part.length;
  };
  const forget = (): void => {
    if (room.length > firstRoom) room = new Uint8Array(firstRoom);
    size = 0;
  };
  const finish = (): string | null => {
    const line = isTooLong ? null : decoder.decode(room.subarray(0, size)).replace(/\r$/, "");
    forget();
    isTooLong = false;
    return line;
  };

  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
        take(chunk.subarray(start, at));
        const line = finish();
        if (line !== null) lines.push(line);
        start = at + 1;
      }
      if (start < chunk.length) take(chunk.subarray(start));
      return lines;
    },
    dropped: () => count,
  };
}
