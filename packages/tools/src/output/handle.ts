/** Names the output of one attempt of a call, within its session alone. */
export function handleOf(callId: string, attempt: number): string {
  return `${callId}.${attempt}`;
}

export function parseHandle(handle: string): { readonly callId: string; readonly attempt: number } | null {
  const found = /^(.+)\.(\d{1,6})$/.exec(handle);
  return found === null ? null : { callId: found[1]!, attempt: Number(found[2]) };
}
