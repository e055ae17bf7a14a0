import type { FetchLike } from "@modelcontextprotocol/client";

/** The largest message of a server: a whole JSON body, or one event of a stream. */
const largestMessage = 32 * 1024 * 1024;
const newline = 0x0a;

/** A fetch whose bodies end with an error where one message is larger than the bound: nobody has to hold an endless one. */
export function boundedFetch(fetch: FetchLike, bound: number = largestMessage): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
    let size = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const last = isStream ? chunk.lastIndexOf(newline) : -1;
          size = last === -1 ? size + chunk.length : chunk.length - last;
          if (size > bound) controller.error(new Error(`the server sent a message of more than ${bound} bytes`));
          else controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    const copy = new Response(counted, { status, statusText, headers });
    // A response that was made has no address; redirects are judged by it.
    return Object.defineProperties(copy, { url: { value: response.url }, redirected: { value: response.redirected } });
  };
}
