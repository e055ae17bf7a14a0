import { createServer } from "node:http";
import { chromium } from "playwright-core";

/** Keeps a headless Chromium to the page it is given: no sandbox of its own in a container, nothing fetched in the background. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Loads a module script in a page of a loopback origin, calls the function it puts at `globalThis.run`, and gives back
 * what that resolved with and what went wrong on the page. A `null` argument is passed where none is given.
 */
export async function runInPage(
  script: string,
  argument: unknown = null,
): Promise<{ readonly value: unknown; readonly errors: readonly string[] }> {
  const server = createServer((request, response) => {
    const isScript = request.url === "/script.js";
    response.setHeader("content-type", isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8");
    response.end(isScript ? script : `<!doctype html><link rel="icon" href="data:,"><script type="module" src="/script.js"></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const browser = await chromium.launch({
    executablePath: process.env["HOLDFAST_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    headless: true,
    args: flags,
  });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: "load" });
    const value: unknown = await page.evaluate(
      (given) => (globalThis as unknown as { run: (argument: unknown) => Promise<unknown> }).run(given),
      argument,
    );
    return { value, errors };
  } finally {
    await browser.close();
    server.close();
  }
}
