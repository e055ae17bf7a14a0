import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant } from "./contestants.ts";

/** Versions of the programs that are compared. */
const packages = {
  "ai-sdk": ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "zod@4.6.7"],
  pi: ["@earendil-works/pi-coding-agent@1.6.0"],
} as const;

/** Installs the peers from npm into `folder`, which is outside the repository, where they aren't there already. */
export function installPeers(folder: string): Contestant[] {
  for (const [name, wanted] of Object.entries(packages)) {
    const place = join(folder, name);
    if (existsSync(join(place, "node_modules"))) continue;
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), '{ "private": true, "type": "module" }\n');
    process.stderr.write(`npm install ${wanted.join(" ")} in ${place}\n`);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...wanted], {
      cwd: place,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return [aiSdk(join(folder, "ai-sdk")), pi(join(folder, "pi"))];
}

/** The shortest script that does with the AI SDK what the bare loop does. */
const aiSdkScript = `
import { spawn } from "node:child_process";
import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const run = ({ command }) =>
  new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    child.on("close", (code) => resolve("exit status " + code + "\\n" + output));
  });
const tools = { shell: tool({ description: "Run a command.", inputSchema: z.object({ command: z.string() }), execute: run }) };
const { textStream } = streamText({
  model: createOpenAI({}).responses("bench"),
  system: "You are a coding agent.",
  prompt: "go",
  tools,
  stopWhen: stepCountIs(1_000_000),
  providerOptions: { openai: { store: false } },
});
for await (const text of textStream) process.stdout.write(text);
`;

function aiSdk(folder: string): Contestant {
  const script = join(folder, "loop.mjs");
  writeFileSync(script, aiSdkScript);
  return { name: "ai-sdk", title: `a script on the AI SDK ${versionOf(folder, "ai")}`, command: () => [process.execPath, script] };
}

function pi(folder: string): Contestant {
  const model = { id: "bench", name: "bench", reasoning: false, contextWindow: 400_000, maxTokens: 16_384 };
  return {
    name: "pi",
    title: `pi ${versionOf(folder, "@earendil-works/pi-coding-agent")}`,
    command: ({ baseUrl, home }) => {
      const config = join(home, ".pi", "agent");
      mkdirSync(config, { recursive: true });
      const models = [{ ...model, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }];
      const provider = { baseUrl, apiKey: "bench", api: "openai-responses", models };
      writeFileSync(join(config, "models.json"), JSON.stringify({ providers: { bench: provider } }));
      return [process.execPath, join(folder, "node_modules", ".bin", "pi"), "--provider", "bench", "--model", "bench", "-p", "go"];
    },
    environment: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
  };
}

function versionOf(folder: string, name: string): string {
  return (JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as { version: string }).version;
}
