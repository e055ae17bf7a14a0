/** One word, number, string or sign of a program; comments are none. */
export interface Token {
  /** As it is compared: strings of one line in double quotes. */
  readonly text: string;
  readonly at: number;
  /** How far its line is indented, where it is the first on it; null elsewhere. */
  readonly indent: number | null;
  readonly isString: boolean;
  /** How many words it has with those that stand in it: of an opening bracket up to the one that closes it, or the end. */
  span: number;
}
