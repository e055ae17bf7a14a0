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
  "*.test-d.{ts,mts,cts,tsx}",
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
  "*.feature",
  "*{_test,-test,.test}.{sh,bash,zsh,lua,R,jl,php,pl,c,cc,cpp,rs,ml,hs,erl}",
  "test{_,-}*.{sh,bash,zsh,lua,R,jl,php,pl,c,cc,cpp}",
  // Perl
  "*.t",
  "**/{t,xt}/**",
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
  "{pytest.ini,.pytest.ini,pytest.toml,.pytest.toml,conftest.py,tox.ini,noxfile.py,.coveragerc,sitecustomize.py,usercustomize.py}",
  "{Makefile,makefile,GNUmakefile,*.mk,justfile,Justfile,.justfile,Taskfile.yml,Taskfile.yaml,Rakefile,CMakeLists.txt,build.ninja}",
  ".proverc",
  "{.rspec,spec_helper.rb,rails_helper.rb,test_helper.rb,phpunit.xml,phpunit.xml.dist}",
  "{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,turbo.json,nx.json,lerna.json}",
  "{.babelrc,.babelrc.*,babel.config.*,.swcrc}",
  "**/{.mvn,buildSrc}/**",
  "**/.cargo/{config,config.toml}",
  "**/.config/nextest.toml",
  "{rust-toolchain,rust-toolchain.toml,go.work}",
  "{pom.xml,build.gradle,build.gradle.kts,settings.gradle,settings.gradle.kts,gradle.properties}",
  "{.gitattributes,.gitmodules}",
  "{.env,.env.*,.envrc,.tool-versions,.nvmrc,.node-version,.python-version}",
];

/** Configuration of one tool, where the check's text mentions it. */
export const toolFiles: readonly { readonly tool: RegExp; readonly files: readonly string[] }[] = [
  { tool: /\b((vue-)?tsc|tsx|ts-node|jest|vitest|mocha|ava|bun|deno)\b/, files: ["tsconfig*.json", "jsconfig.json"] },
  { tool: /\bvitest\b/, files: ["vite.config.*"] },
  { tool: /\b(?:cucumber|behave|behat)\b/, files: ["**/features/**", "**/step{_,-}definitions/**", "cucumber.*", "behat.*", "behave.ini"] },
  { tool: /\bnx\b/, files: ["project.json"] },
  { tool: /\beslint\b/, files: ["eslint.config.*", ".eslintrc*", ".eslintignore"] },
  { tool: /\bbiome\b/, files: ["biome.json", "biome.jsonc"] },
  { tool: /\boxlint\b/, files: [".oxlintrc.json"] },
  { tool: /\bprettier\b/, files: [".prettierrc*", "prettier.config.*", ".prettierignore", ".editorconfig"] },
  { tool: /\b(?:shfmt|eclint|editorconfig-checker|dotnet format|ktlint)\b/, files: [".editorconfig"] },
  { tool: /\bstylelint\b/, files: [".stylelintrc*", "stylelint.config.*", ".stylelintignore"] },
  { tool: /\bruff\b/, files: ["ruff.toml", ".ruff.toml"] },
  { tool: /\bmypy\b/, files: ["mypy.ini", ".mypy.ini"] },
  { tool: /\bpyright\b/, files: ["pyrightconfig.json"] },
  { tool: /\bflake8\b/, files: [".flake8"] },
  { tool: /\bgolangci-lint\b/, files: [".golangci.*"] },
  { tool: /\bclippy\b/, files: ["clippy.toml", ".clippy.toml"] },
  { tool: /\bcargo\b/, files: ["build.rs"] },
];

/** Files of which only some sections direct a runner: a new dependency in them is no change of the test. */
export const sectionFiles: readonly { readonly file: string; readonly sections: RegExp }[] = [
  { file: "pyproject.toml", sections: /tool\.(pytest|tox|coverage|nox|hatch\.envs|poe|taskipy|pdm\.scripts|mypy|ruff|pyright)\b/ },
  { file: "setup.cfg", sections: /tool:pytest|tox|coverage|aliases|mypy|flake8/ },
  {
    file: "Cargo.toml",
    sections: /\[\s*(package|lib|features|workspace|\[\s*(test|bench|bin|example)|profile|lints|patch|replace|dev-dependencies)\b/,
  },
];

/** Lines of go.mod that lead a module elsewhere. */
export const goReplacements = /^\s*replace\b[^\n(]*$|^\s*replace\s*\([\s\S]*?^\s*\)/gm;

/** Keys of package.json that direct a runner, or say which file a module's name means, beside the scripts that the check runs. */
export const packageKeys: readonly string[] = [
  "jest",
  "vitest",
  "mocha",
  "ava",
  "tap",
  "c8",
  "nyc",
  "workspaces",
  "babel",
  "ts-node",
  "_moduleAliases",
  "imports",
  "exports",
  "main",
  "module",
  "overrides",
  "resolutions",
  "config",
  "eslintConfig",
  "eslintIgnore",
  "prettier",
  "stylelint",
  "xo",
  "wireit",
  "nx",
];

/** Keys that say which file a name means to one tool, where the check's text mentions it. */
export const toolKeys: readonly { readonly tool: RegExp; readonly keys: readonly string[] }[] = [
  { tool: /\b(?:tsc|vue-tsc|tsd|ts-node|ts-jest|tstyche|dtslint)\b/, keys: ["types", "typings", "typesVersions"] },
  { tool: /\b(?:esbuild|webpack|rollup|rolldown|vite|vitest|parcel|browserify|rspack|tsup|bun)\b/, keys: ["sideEffects", "browser"] },
];

/** What tools write for people and for other tools, and no check reads: changes in it are no reason to run one again. */
export const reports: readonly string[] = [
  "{coverage,htmlcov,.nyc_output,.coverage,.coverage.*,test-results,playwright-report,__pycache__,.DS_Store}",
  "*.log",
  "**/__pycache__/**",
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
export const dependenciesInScope: readonly string[] = [
  "**/{node_modules,.venv,venv}/**",
  "**/vendor/**/{testify,gomega,ginkgo,phpunit,mockery,rspec*,minitest*,test-unit*}/**",
];

/** Names of Python's runners, which nothing else in a project has a use for. */
const pythonRunners = "{unittest,pytest,_pytest,pluggy,iniconfig,nose,nose2,doctest,sitecustomize,usercustomize}";
/** What runners load of the standard library; a file of the same name comes first only where Python begins to look. */
const pythonLibrary =
  "{abc,argparse,ast,asyncio,codecs,collections,concurrent,contextlib,copy,dataclasses,datetime,difflib,dis,enum,fnmatch,functools,gettext,heapq,importlib,inspect,io,json,linecache,locale,logging,operator,optparse,os,pathlib,platform,pprint,queue,random,re,reprlib,shutil,signal,site,socket,string,struct,subprocess,sys,tempfile,textwrap,threading,time,tokenize,traceback,types,typing,warnings,weakref}";
const perlLibrary = "{strict,warnings,utf8,feature,Carp,Exporter,overload,vars,constant,base,parent,Config,POSIX}";

/**
 * Files that stand before a runner, a test library or what they load, where the language looks in the workspace first. One
 * that was there at the baseline belongs to the project; one that appears is part of the test.
 */
export const shadows: readonly string[] = [
  `${pythonRunners}.{py,pyc,pyd,so}`,
  `${pythonRunners}.*.so`,
  `**/${pythonRunners}/**`,
  ...["/", "/src/", "/lib/"].flatMap((top) => [`${top}${pythonLibrary}.{py,pyc,pyd,so}`, `${top}${pythonLibrary}/**`]),
  "*.pth",
  "**/*.{dist-info,egg-info}/**",
  `**/{lib,blib,inc,local}/**/${perlLibrary}.pm`,
  "**/{Test,Test2,TAP}/**/*.pm",
  "**/{Scalar,List}/Util.pm",
  "**/{minitest,rspec,test/unit}/**/*.rb",
  "{minitest,rspec}.rb",
];

/** What in the user's home folder reaches into runs of toolchains. */
export const userFiles: readonly string[] = [
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".bunfig.toml",
  ".node_modules",
  ".node_libraries",
  ".local/lib",
  ".proverc",
  ".perl5",
  "perl5",
  ".rspec",
  ".gemrc",
  ".bundle",
  ".cargo/config",
  ".cargo/config.toml",
  ".config/pip",
  ".pip",
  ".pydistutils.cfg",
  ".config/go/env",
  ".m2/settings.xml",
  ".mavenrc",
  ".gradle/gradle.properties",
  ".gradle/init.gradle",
  ".gradle/init.d",
];
