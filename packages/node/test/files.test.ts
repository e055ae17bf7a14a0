import { filesConformance } from "../../tools/test/files-conformance.ts";
import { temporaryFiles } from "./files-workspace.ts";

filesConformance("Node", () => temporaryFiles());
