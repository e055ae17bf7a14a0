import { expect, test } from "vitest";
import { showUrls } from "../src/show-url.ts";

test.each([
  ["http://user:passw0rd@127.0.0.1:9/v1?key=abcdefgh", "http://…@127.0.0.1:9/v1?key=…"],
  ["https://token@a.example", "https://…@a.example"],
  ["https://a@b:c@d.example/x", "https://…@d.example/x"],
  ["https://a.example/v1?api-version=1&key=k=k&x=&bare#token=t", "https://a.example/v1?api-version=…&key=…&x=&…#…"],
  ["https://a.example/?key=${KEY}&other=${KEY:-real}", "https://a.example/?key=${KEY}&other=…"],
  ["https://${USER}:${PASSWORD}@a.example/mcp", "https://…@a.example/mcp"],
  ["http://me:pa/ss?w#d@a.example/v1?k=v", "http://…@a.example/v1?k=…"],
  ["https://a.example/https://u:p@b.example/", "https://a.example/https://…@b.example/"],
  ["postgres://u:p@db/main?sslpassword=x", "postgres://…@db/main?sslpassword=…"],
  ["npx mcp-remote --url=https://u:p@a.example/?k=v --verbose", "npx mcp-remote --url=https://…@a.example/?k=… --verbose"],
  ['no URL: "http://u:p@h:x/"', 'no URL: "http://…@h:x/"'],
])("a URL of a config is shown without user part and values of its query: %s", (text, shown) => {
  expect(showUrls(text)).toBe(shown);
});

test.each(["http://127.0.0.1:11434/v1", "https://a.example/@scope/package@1.2", "me@a.example", "http://[::1]:8080/mcp", ""])(
  "an address without either stays as it is: %s",
  (text) => expect(showUrls(text)).toBe(text),
);

test("takes time that grows with the text alone", () => {
  expect(showUrls("http://".repeat(20_000))).toContain("http://");
  expect(showUrls(`http://${"@".repeat(100_000)}`)).toBe("http://…@");
});
