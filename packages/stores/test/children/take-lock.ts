/** Takes a lock and holds it until it is killed: `take-lock FILE NAME`. */
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { writeSync } from "node:fs";
import { owner } from "../sample.ts";

const [path = "", name = ""] = process.argv.slice(2);
const { held } = await openSqliteLog(path).lock(name, owner(process.pid), () => true);
writeSync(1, held ? "held\n" : "refused\n");
setInterval(() => {}, 60_000);
