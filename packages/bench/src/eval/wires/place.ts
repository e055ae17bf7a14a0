import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Settings } from "@holdfast/protocol";
import type { Tool } from "@holdfast/runtime";
import { defaultConfig, defaultLimits, openHost, type Config, type OpenHost } from "holdfast";
import type { WireName } from "./server.ts";

/** A workspace and a home of their own, and hosts over them: each is what another process would open. */
export interface EvalPlace {
  readonly workspace: string;
  readonly home: string;
  write(path: string, text: string): void;
  open(config: Partial<Config>, tools?: readonly Tool[]): Promise<OpenHost>;
  newSession(host: OpenHost, settings?: Partial<Settings>): Promise<string>;
  remove(): void;
}

const models: Readonly<Record<WireName, string>> = {
  responses: "own/gpt-5",
  chat: "own/qwen3",
  messages: "own/claude-sonnet-4-5",
  gemini: "own/gemini-3-pro",
};

/** The provider `own` over a wire. */
export function providerAt(
  wire: WireName,
  baseUrl: string,
  more: Partial<Config["providers"][string]> = {},
): Pick<Config, "providers" | "modelFacts"> {
  const address = wire === "responses" || wire === "chat" ? baseUrl : new URL("/", baseUrl).href;
  return {
    providers: { own: { baseUrl: address, wire, contextWindow: 2_000_000, ...more } },
    modelFacts: { [models[wire]]: { contextWindow: 2_000_000, maxOutput: 64_000, priceInput: 1, priceOutput: 1 } },
  };
}

export function makePlace(wire: WireName): EvalPlace {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-context-")));
  const [workspace, home] = [join(top, "workspace"), join(top, "home")];
  mkdirSync(workspace);
  mkdirSync(home);
  const roots = [{ id: "r1", path: workspace }];
  return {
    workspace,
    home,
    write: (path, text) => {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    },
    open: (config, tools = []) =>
      openHost(
        {
          home,
          isEphemeral: false,
          config: { ...defaultConfig, ...config },
          onWait: () => undefined,
          onNote: () => undefined,
          env: { PATH: process.env["PATH"], HOME: home },
        },
        { cwd: workspace, roots, tools, reach: { sandbox: "off", network: "none", isTrusted: true } },
      ),
    newSession: ({ ports, runtime }, settings = {}) =>
      runtime.createSession(ports, {
        roots,
        cwd: workspace,
        title: "context",
        checks: [],
        settings: {
          model: models[wire],
          effort: null,
          sandbox: "off",
          network: "none",
          isTrusted: true,
          approvals: "allow",
          limits: {
            ...defaultLimits,
            stepsPerTurn: 1_000_000,
            callsPerTurn: 1_000_000,
            tokensPerSession: 1_000_000_000,
            costPerSession: null,
          },
          takesBaseline: false,
          acceptCheckChanges: [],
          ...settings,
        },
      }),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

/** A tool that answers at once, so that nothing but the conversation grows. */
export function plainTool(name: string, description: string, isDeferred: boolean, answer: (input: unknown) => string): Tool {
  return {
    spec: { name, description, schema: { type: "object", properties: { about: { type: "string" } } } },
    isDeferred,
    plan: async (input) => ({ input, summary: name, reads: [], writes: [], workspace: "none", replay: "safe", changesWorkspace: false }),
    run: async ({ plan }) => ({ status: "completed", text: answer(plan.input), trust: "tool" }),
  };
}
