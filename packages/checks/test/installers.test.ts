import { describe, expect, test } from "vitest";
import { installerOf } from "../src/installers.ts";

describe("what is an install", () => {
  test.each([
    "npm ci",
    "npm ci --no-audit --no-fund",
    "npm install",
    "npm i -D @types/node@24.0.0 zod",
    "pnpm install --frozen-lockfile",
    "yarn",
    "yarn install --immutable",
    "pip install -r requirements.txt",
    ".venv/bin/python -m pip install -q -r requirements.txt -r requirements-dev.txt",
    "bundle install",
    "go mod download",
    "cargo fetch --locked",
    "uv sync",
  ])("%s", (command) => expect(installerOf(command)).not.toBeNull());

  test.each([
    "npm ci && sed -i s/a/b/ node_modules/x/index.js",
    "npm ci; true",
    "npm ci | tail -3",
    "npm ci\nrm -rf node_modules/x",
    "npm ci > log",
    "npm ci $(touch x)",
    "npm ci &",
    "NODE_OPTIONS=--import=./x.mjs npm ci",
    "./npm ci",
    "cd other && npm ci",
    "npm ci --script-shell=./sh",
    "npm ci --prefix ../other",
    "npm install --no-package-lock",
    "npm install ./fake",
    "npm install fake.tgz",
    "npm install user/repository",
    "npm install git+https://example.org/x.git",
    "npm install x@npm:y",
    "npm run install",
    "npm rebuild",
    "yarn build",
    "pip install .",
    "pip install pytest",
    "pip install -r",
    "pip install --index-url http://127.0.0.1 -r requirements.txt",
    "python setup.py install",
    "go build",
    "",
  ])("not: %s", (command) => expect(installerOf(command)).toBeNull());
});
