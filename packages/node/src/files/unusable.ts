/** Why an edit can't have its target: not a regular file, or no longer where its real path says. */
export class UnusableTarget extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
