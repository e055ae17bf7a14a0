/** Cuts a stream of UTF-8 bytes into lines. */
export interface LineSplitter {
  /** The lines that these bytes complete, without their ends. */
  push(chunk: Uint8Array): string[];
  /** Lines that were longer than the bound and are lost. */
  dropped(): number;
}

const newline = 0x0a;

export function splitLines(longest: number): LineSplitter {
  let held: Uint8Array[] = [];
  let size = 0;
  let isTooLong = false;
  let count = 0;
  const decoder = new TextDecoder();

  const take = (part: Uint8Array): void => {
    size += part.length;
    if (size > longest) {
      if (!isTooLong) count += 1;
      isTooLong = true;
      held = [];
    } else held.push(part);
  };
  const finish = (): string | null => {
    const line = isTooLong ? null : decoder.decode(Buffer.concat(held)).replace(/\r$/, "");
    held = [];
    size = 0;
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
      // The rest is copied: the chunk's memory may be reused.
      if (start < chunk.length) take(chunk.slice(start));
      return lines;
    },
    dropped: () => count,
  };
}
