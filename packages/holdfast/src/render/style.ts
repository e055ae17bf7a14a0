/** Colours by meaning. Each is the identity where there are none. */
export interface Style {
  readonly strong: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly care: (text: string) => string;
}

const plain = (text: string) => text;
const code = (on: number, off: number) => (text: string) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`);

/** SGR codes that every terminal knows; the sixteen basic colours follow the person's own theme. */
export function createStyle(isColoured: boolean): Style {
  if (!isColoured) return { strong: plain, dim: plain, good: plain, bad: plain, care: plain };
  return { strong: code(1, 22), dim: code(2, 22), good: code(32, 39), bad: code(31, 39), care: code(33, 39) };
}
