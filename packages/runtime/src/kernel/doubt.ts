/** Under what a call in doubt is kept: its tool, and what makes a call the same effect. */
export function doubtKey(tool: string, identity: string): string {
  return `${tool}:${identity}`;
}

/** The identity is a digest, which has no colon; a tool's name may have one. */
export function doubtOf(key: string): { readonly tool: string; readonly identity: string } {
  const end = key.lastIndexOf(":");
  return { tool: key.slice(0, end), identity: key.slice(end + 1) };
}
