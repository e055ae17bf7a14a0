/** Writes the tables of docs/durability.md from what is seen: `npm run durability`. Tests hold the page to them. */
import { makeTable, renderTable } from "../packages/runtime/test/crash/table.ts";
import { makeCommandTable, renderCommandTable } from "../packages/tools/test/command-crashes.ts";
import { makeEditTable, renderEditTable } from "../packages/tools/test/edit-crashes.ts";
import { writeSection } from "../packages/runtime/test/durability-page.ts";

const [sessions, edits, commands] = [await makeTable(), await makeEditTable(), await makeCommandTable()];
const wrong = [
  ...sessions.wrong,
  ...edits.wrong,
  ...commands.flatMap(({ left, found, right }) => (found === right ? [] : [`${left}: ${found}`])),
];
for (const one of wrong) console.error(one);
writeSection("sessions", renderTable(sessions));
writeSection("edits", renderEditTable(edits));
writeSection("commands", renderCommandTable(commands));
process.exitCode = wrong.length === 0 ? 0 : 1;
