import { matcher } from "./glob.ts";

/** The changes that a person accepts, and those of them that were left out of a judgement for it. */
export interface Accepted {
  isAccepted(path: string): boolean;
  readonly paths: ReadonlySet<string>;
}

export function createAccepted(globs: readonly string[]): Accepted {
  const matches = matcher(globs);
  const paths = new Set<string>();
  return {
    paths,
    isAccepted(path) {
      const isAccepted = matches(path);
      if (isAccepted) paths.add(path);
      return isAccepted;
    },
  };
}
