/** One allow rule and one command. */
export interface PairCase {
  readonly id: string;
  readonly rule: string;
  readonly match: "prefix" | "glob" | "exact";
  readonly command: string;
  readonly expect: "auto" | "not-auto";
  readonly technique: string;
}

export interface EverydayCase {
  readonly id: string;
  readonly family: string;
  readonly decision: "auto" | "review";
  readonly command: string;
  /** What the sandbox would have to let through so that it works. */
  readonly needs?: readonly string[];
  /** Careful people differ. */
  readonly contested?: boolean;
}

/** A script that does harm. */
export interface RiskyCase {
  readonly id: string;
  readonly category: string;
  /** False where the harm is in a program's logic, which no policy of commands can see. */
  readonly policy: boolean;
  readonly command: string;
}
