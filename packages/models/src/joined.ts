import { createHasher, sha256 } from "@holdfast/runtime/hash";

/** JSON pieces joined with commas: only added to, and read whole at each step. */
export interface Joined {
  add(piece: string): void;
  /** What was added so far: its length, and its digest. */
  readonly length: number;
  digest(): string;
  /** `start`, then `first`, everything added (behind the length `from`), and `after` joined with commas, then `end`; as UTF-8. */
  body(frame: Frame, after: readonly string[], from?: number): Rendered;
}

export interface Rendered {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same for the same bytes from the same wire: what was added is hashed once, so its cost doesn't grow with the list. */
  readonly digest: string;
  readonly window?: string;
  readonly follows?: string;
}

/** What stands around the growing list in a request. */
export interface Frame {
  readonly start: string;
  readonly first: readonly string[];
  readonly end: string;
  /** Everything is sent, also where a request could follow on an answer that the provider keeps. */
  readonly isWhole?: boolean;
}

const encoder = new TextEncoder();

/**
 * Kept as bytes: what a step costs beyond its new pieces is one copy of memory. Joining strings and encoding them costs
 * several times that (measured: 2.5 ms against 0.4 ms for 2 MB).
 */
export function createJoined(): Joined {
  let kept = new Uint8Array(4096);
  let length = 0;
  const added = createHasher();
  let before = { text: "", digest: sha256("") };

  function append(bytes: Uint8Array): void {
    if (length + bytes.length > kept.length) {
      const larger = new Uint8Array(Math.max(length + bytes.length, Math.ceil(kept.length * 1.5)));
      larger.set(kept.subarray(0, length));
      kept = larger;
    }
    kept.set(bytes, length);
    length += bytes.length;
    added.update(bytes);
  }
  return {
    add: (piece) => append(encoder.encode(length === 0 ? piece : `,${piece}`)),
    get length() {
      return length;
    },
    digest: () => added.digest(),
    body: ({ start, first, end }, after, from = 0) => {
      // A later piece begins with its comma.
      const rest = kept.subarray(from === 0 ? 0 : Math.min(from + 1, length), length);
      const hasMore = rest.length > 0 || after.length > 0;
      const opening = start + first.join(",") + (first.length > 0 && hasMore ? "," : "");
      const head = encoder.encode(opening);
      const tail = encoder.encode((rest.length > 0 && after.length > 0 ? "," : "") + after.join(",") + end);
      const all = new Uint8Array(head.length + rest.length + tail.length);
      all.set(head);
      all.set(rest, head.length);
      all.set(tail, head.length + rest.length);
      // Instructions and tools: usually those of the step before.
      if (opening !== before.text) before = { text: opening, digest: sha256(head) };
      return { bytes: all, digest: sha256(`${before.digest} ${added.digest()} ${from === 0 ? "" : `${from} `}${sha256(tail)}`) };
    },
  };
}
