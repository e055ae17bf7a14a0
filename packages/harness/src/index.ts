export { createDirector } from "./director.ts";
