import { createWakeups } from "../src/host/wakeups.ts";

createWakeups(process.argv[2] ?? "").ring("a");
