/** What is signed at the end of a turn. */
export function tipText(session: string, { seq, hash }: { readonly seq: number; readonly hash: string }): string {
  return `${session}\n${seq}\n${hash}`;
}
