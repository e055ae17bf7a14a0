/**
 * What a source must not do to the tests that judge it. A changed file whose new lines do one of these is treated as a part
 * of the tests: they must pass with its earlier version as well, or a person accepts it. Listed in docs/checks.md.
 */
export interface ReachRule {
  readonly id: string;
  /** Extensions of the files that it is about. */
  readonly files: RegExp;
  /** Found in the lines that a file did not have before. */
  readonly pattern: RegExp;
  /** Only where the tests load the file into their own process: a program of its own may do this. */
  readonly onlySourced?: true;
  /** Only where the tests name (or set or define, as a shell does) what the pattern's groups list; the pattern is a global one then. */
  readonly namedByTests?: "named" | "set" | "defined";
}
