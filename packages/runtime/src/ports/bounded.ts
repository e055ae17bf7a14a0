/**
 * Does work whose length others decide, such as matching a pattern that the model or a config wrote, and ends it after a
 * while: null where it was ended. A pattern may take longer than anybody waits, and nothing else goes on meanwhile. The
 * work is pure: what is half done is lost. What it throws is thrown.
 */
export type Bounded = <T>(work: () => T) => { readonly value: T } | null;
