import type { SandboxRefusal } from "@holdfast/protocol/call";

/** For the model: what the sandbox refused, apart from what the command says, and what can be asked for. */
export function describeRefused(refused: readonly SandboxRefusal[]): string {
  const asked = refused.filter(({ kind }) => kind !== "hidden");
  const lines = refused.map((each) => `- ${describe(each)}`);
  const wish =
    asked.length === 0
      ? ""
      : `\nIf the task needs it, request_access runs a command with exactly what it names, once a person agrees: ${example(asked)}`;
  return `The sandbox refused this, not the program:\n${lines.join("\n")}${wish}`;
}

function describe(refusal: SandboxRefusal): string {
  switch (refusal.kind) {
    case "host":
      return `to reach ${nameOf(refusal)}: ${refusal.reason}`;
    case "write":
      return `to write ${refusal.path}`;
    case "hidden":
      return `to see ${refusal.path}: it is hidden from commands, and can't be asked for`;
  }
}

function example(refused: readonly SandboxRefusal[]): string {
  const hosts = refused.flatMap((each) => (each.kind === "host" ? [nameOf(each)] : []));
  const write = refused.flatMap((each) => (each.kind === "write" ? [each.open] : []));
  return JSON.stringify({
    command: "…",
    ...(hosts.length > 0 && { hosts }),
    ...(write.length > 0 && { write: [...new Set(write)] }),
    reason: "…",
  });
}

function nameOf({ host, port }: Extract<SandboxRefusal, { kind: "host" }>): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === null || port === 80 || port === 443 ? name : `${name}:${port}`;
}
