import type { CallIntent, Ports, Tool } from "@holdfast/runtime";

/** What chaos must find: orders of the effect sandwich that are wrong on purpose. */
export const faults = ["settle-before-effect", "skip-intent", "skip-claim"] as const;
export type Fault = (typeof faults)[number];

/** How long after its settlement an effect happens that should have come before. */
const lateMs = 400;

/** The ports with a fault in them. */
export function plant(fault: Fault | null, ports: Ports): Ports {
  switch (fault) {
    case null:
      return ports;
    case "skip-claim":
      // Whoever asks is told that it has the claim, and that nobody had it before.
      return { ...ports, log: { ...ports.log, claim: async () => true } };
    case "settle-before-effect":
      return withTools(ports, settledFirst);
    case "skip-intent":
      return withTools(ports, actedFirst);
  }
}

function withTools(ports: Ports, change: (tool: Tool) => Tool): Ports {
  const { tools } = ports;
  return {
    ...ports,
    tools: {
      get specs() {
        return tools.specs;
      },
      get: (name) => {
        const tool = tools.get(name);
        return tool === null || name !== "http_request" ? tool : change(tool);
      },
    },
  };
}

function settledFirst(tool: Tool): Tool {
  return {
    ...tool,
    run: async (intent, context, signal) => {
      setTimeout(() => void tool.run(intent, context, signal).catch(() => undefined), lateMs);
      return { status: "completed", text: "HTTP 201", trust: "untrusted", httpStatus: 201 };
    },
  };
}

/** It acts where it should only prepare, before its intent is durable. */
function actedFirst(tool: Tool): Tool {
  const outcomes = new Map<string, ReturnType<Tool["run"]>>();
  return {
    ...tool,
    prepare: async (plan, context) => {
      const { callId, confinement } = context;
      const intent: CallIntent = { callId, name: tool.spec.name, plan, attempt: 1, key: callId, scope: confinement.scope, prepared: null };
      const outcome = tool.run(intent, context, new AbortController().signal);
      outcomes.set(callId, outcome);
      await outcome.catch(() => undefined);
      return { prepared: null, blobs: [] };
    },
    run: (intent, context, signal) => outcomes.get(intent.callId) ?? tool.run(intent, context, signal),
  };
}
