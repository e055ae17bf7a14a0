/** Writes the tables of docs/durability.md from what is seen: `npm run durability`. Tests hold the page to them. */
import { makeTable, renderTable } from "../packages/runtime/test/crash/table.ts";
import { writeSection } from "../packages/runtime/test/durability-page.ts";

const table = await makeTable();
for (const one of table.wrong) console.error(one);
writeSection("sessions", renderTable(table));
process.exitCode = table.wrong.length === 0 ? 0 : 1;
