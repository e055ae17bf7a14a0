/**
 * What counts as a check's inputs where its definition doesn't say. Listed for people in docs/checks.md.
 * All toolchains' patterns hold at once: a pattern too many costs one more run when such a file changes.
 */

const scripts = "{js,mjs,cjs,jsx,ts,mts,cts,tsx}";

export const testFiles: readonly string[] = [
  // JavaScript and TypeScript: node --test, vitest, jest, mocha, playwright, cypress
  `*.{test,spec,tests,e2e,cy}.${scripts}`,
  `*{-test,_test}.${scripts}`,
  `test-*.${scripts}`,
  `test.${scripts}`,
  "**/__tests__/**",
  // Python
  "test_*.py",
  "*_test.py",
  "tests.py",
  // Go, Rust, JVM, .NET, Ruby, PHP, Elixir, Dart, shell
  "*_test.go",
  "*{Test,Tests,IT,Spec}.{java,kt,groovy,scala,cs,swift,php}",
  "*_{spec,test}.rb",
  "*_test.{exs,dart}",
  "*.bats",
  // Folders of tests, with what lies in them
  "**/{test,tests,e2e}/**",
  `**/spec/**/*.{rb,${scripts.slice(1, -1)}}`,
];

export const fixtures: readonly string[] = [
  "**/{fixtures,__fixtures__,__mocks__,__snapshots__,snapshots,testdata,test-data,test_data,golden,goldens,cassettes}/**",
  "*.snap",
  "*.golden",
];

/** Configuration of runners, whole files. */
export const runnerFiles: readonly string[] = [
  "{vitest,jest,ava,playwright,cypress,karma,wdio,jest-preset,jest-setup}.*",
  "{setupTests,setup-tests,test-setup,test-utils,testUtils,test_utils,testutils}.*",
  "{.mocharc*,.taprc,.c8rc*,.nycrc*,bunfig.toml,deno.json,deno.jsonc}",
  "{pytest.ini,.pytest.ini,conftest.py,tox.ini,noxfile.py,.coveragerc,sitecustomize.py,usercustomize.py}",
  "{Makefile,makefile,GNUmakefile,*.mk,justfile,Justfile,.justfile,Taskfile.yml,Taskfile.yaml,Rakefile,CMakeLists.txt}",
  "{.rspec,spec_helper.rb,rails_helper.rb,test_helper.rb,phpunit.xml,phpunit.xml.dist}",
  "{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,turbo.json,nx.json,lerna.json}",
  "**/.cargo/{config,config.toml}",
  "**/.config/nextest.toml",
  "{rust-toolchain,rust-toolchain.toml,go.work}",
  "{pom.xml,build.gradle,build.gradle.kts,settings.gradle,settings.gradle.kts,gradle.properties}",
  "{.env,.env.*,.envrc,.tool-versions,.nvmrc,.node-version,.python-version}",
];

/** Configuration of one tool, where the check's text mentions it. */
export const toolFiles: readonly { readonly tool: RegExp; readonly files: readonly string[] }[] = [
  { tool: /\b(vue-)?tsc\b/, files: ["tsconfig*.json", "jsconfig.json"] },
  { tool: /\bvitest\b/, files: ["vite.config.*"] },
  { tool: /\beslint\b/, files: ["eslint.config.*", ".eslintrc*", ".eslintignore"] },
  { tool: /\bbiome\b/, files: ["biome.json", "biome.jsonc"] },
  { tool: /\boxlint\b/, files: [".oxlintrc.json"] },
  { tool: /\bprettier\b/, files: [".prettierrc*", "prettier.config.*", ".prettierignore"] },
  { tool: /\bruff\b/, files: ["ruff.toml", ".ruff.toml"] },
  { tool: /\bmypy\b/, files: ["mypy.ini", ".mypy.ini"] },
  { tool: /\bpyright\b/, files: ["pyrightconfig.json"] },
  { tool: /\bflake8\b/, files: [".flake8"] },
  { tool: /\bgolangci-lint\b/, files: [".golangci.*"] },
  { tool: /\bclippy\b/, files: ["clippy.toml", ".clippy.toml"] },
];

/** Files of which only some sections direct a runner: a new dependency in them is no change of the test. */
export const sectionFiles: readonly { readonly file: string; readonly sections: RegExp }[] = [
  { file: "pyproject.toml", sections: /tool\.(pytest|tox|coverage|nox|hatch\.envs|poe|taskipy|pdm\.scripts|mypy|ruff|pyright)\b/ },
  { file: "setup.cfg", sections: /tool:pytest|tox|coverage|aliases|mypy|flake8/ },
  { file: "Cargo.toml", sections: /\[\s*(package|lib|workspace|\[\s*(test|bench|bin|example)|profile|lints)\b/ },
];

/** Keys of package.json that direct a runner, beside the scripts that the check runs. */
export const packageKeys: readonly string[] = ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "workspaces"];

/** What tools write for people and for other tools, and no check reads: changes in it are no reason to run one again. */
export const reports: readonly string[] = [
  "{coverage,htmlcov,.nyc_output,.coverage,.coverage.*,test-results,playwright-report,__pycache__,.DS_Store}",
  "*.{log,pyc}",
];

/** Files in folders above the workspace that tools look for on their way up. */
export const configAbove: readonly string[] = [
  ".npmrc",
  ".yarnrc.yml",
  "package.json",
  "pnpm-workspace.yaml",
  "tsconfig.json",
  "pytest.ini",
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "conftest.py",
  "Cargo.toml",
  ".cargo/config.toml",
  "go.work",
  ".env",
  ".tool-versions",
];

/** Dependency folders that some project has in scope: they run with the check, and changes in them count like its own. */
export const dependenciesInScope: readonly string[] = ["**/{node_modules,.venv,venv}/**"];
