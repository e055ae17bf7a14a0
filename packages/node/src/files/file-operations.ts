import * as fs from "node:fs";

/** The file system calls that change something, so that a test can make any one of them fail. */
export type FileOperations = Pick<
  typeof fs,
  | "openSync"
  | "writeSync"
  | "fchownSync"
  | "fchmodSync"
  | "fsyncSync"
  | "closeSync"
  | "linkSync"
  | "copyFileSync"
  | "renameSync"
  | "unlinkSync"
  | "mkdirSync"
  | "rmdirSync"
>;

export const fileOperations: FileOperations = fs;
