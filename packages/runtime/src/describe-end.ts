import type { CommandEnd, CommandLimit } from "./ports/processes.ts";

/** How a command ended, as the first line of a call's result, or as why a check did not pass. Without its duration: equal results must read equal. */
export function describeEnd(end: CommandEnd): string {
  switch (end.type) {
    case "exited":
      return `exit code ${end.exitCode}`;
    case "signalled":
      return `killed by ${end.signal}`;
    case "timed_out":
      return `timed out after ${end.afterMs / 1000} s and was ended`;
    case "output_capped":
      return `reached the output limit of ${end.bytes} bytes and was ended`;
    case "unspooled":
      return "was ended: its output could not be stored any more (is the disk full?)";
    case "limited":
      return `ended: ${passedLimit(end)}`;
    case "ended":
      return "stopped before it finished";
    case "lost":
      return "its process is gone and left no exit record: how far it came is not known. Before you do anything that depends on it, look at what it was to change; don't just repeat it";
  }
}

function passedLimit({ limit, max }: CommandLimit): string {
  switch (limit) {
    case "processes":
      return `more than ${max} processes at once, the limit of a command`;
    case "memory":
      return `more than ${inMegabytes(max)} MB of memory, the limit of a command`;
    case "disk":
      return `it was filling the disk, of which ${inMegabytes(max)} MB must stay free`;
  }
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
