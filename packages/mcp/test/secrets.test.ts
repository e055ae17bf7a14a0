import { expect, test } from "vitest";
import { mcpDefaults, secretsOf } from "../src/index.ts";

const environment = { HOME: "/home/somebody", TOKEN: "server-token-1", KEY: "header-key-22" };

test("what a definition takes from the environment is secret, but for paths and words that texts need", () => {
  const program = { type: "stdio" as const, command: "x", args: ["${HOME}/notes"], env: { T: "${TOKEN}" } };
  expect(secretsOf({ ...mcpDefaults, name: "a", target: program }, environment)).toEqual(["server-token-1"]);
  const headers = { Authorization: "Bearer ${KEY}", Accept: "application/json" };
  const far = { type: "http" as const, url: "https://a.example.com/mcp", headers };
  expect(secretsOf({ ...mcpDefaults, name: "b", target: far }, environment)).toEqual(["header-key-22", "Bearer header-key-22"]);
});
