# `make demo` and `make test` do all the set-up themselves.

.DEFAULT_GOAL := help
.PHONY: help demo test check clients soak fuzz bench fmt gen browser demo-apps client-packages times

CARGO ?= cargo
phase = @scripts/phase
# Without nextest `cargo test` runs the tests, without limits for slow ones.
nextest := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)

# Show the progress of the compiler on a terminal.
quiet := $(shell test -t 2 || echo --quiet)
# What checks the scripts and builds them; installed again when its versions change.
script_packages := $(addsuffix node_modules/.package-lock.json, $(CURDIR)/ packages/page/ packages/extension/)
soak_settings := TABMUX_WALKS=20000 PROPTEST_CASES=20000
# Whole-program LTO is for the binary that people run; each test binary would need minutes for it.
soak_settings += CARGO_PROFILE_RELEASE_LTO=thin

help: ## Show this help
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf 'make %-7s %s\n' "$$name" "$$text"; done

demo: browser ## Watch an agent work in a real browser (installs Chromium if there is no browser)
	$(phase) 'Building tabmux (this takes some minutes the first time)'
	@$(CARGO) build --release $(quiet) --package tabmux
	@$(CARGO) run --release --quiet --package tabmux -- demo

test: times browser demo-apps check ## Everything that must pass, tests with a real browser included
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
	@$(MAKE) --no-print-directory clients
	$(phase) 'Examples in the documentation'
	@$(CARGO) test --workspace --quiet --doc
	@scripts/phase --times
	$(phase) 'All checks passed'

clients: browser client-packages ## Test third-party MCP clients (CLIENTS="codex vite" for some, CLIENTS=--write-table)
	$(phase) 'Third-party clients'
	@$(CARGO) build $(quiet) --package tabmux
	@python3 clients/run.py $(CLIENTS)

check: $(script_packages) ## Format, lints, types of scripts, dependencies and documentation, without running tests
	$(phase) 'Format'
	@$(CARGO) fmt --all --check
	$(phase) 'Lints'
	@$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@$(CARGO) metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 >/dev/null
	$(phase) 'Scripts'
	@npm run --silent check
	$(phase) 'Dependencies'
	@CARGO='$(CARGO)' scripts/check-dependencies
	$(phase) 'Documentation'
	@RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet

soak: browser demo-apps ## Run the tests with many more seeds; takes long
	$(phase) 'Soak'
ifeq ($(nextest),yes)
	@CI=true TABMUX_SOAK=1 $(soak_settings) $(CARGO) nextest run --workspace --exclude xtask --release --cargo-quiet --profile soak
else
	@CI=true TABMUX_SOAK=1 $(soak_settings) RUST_TEST_THREADS=2 $(CARGO) test --workspace --exclude xtask --release --quiet
endif
	$(phase) 'Fuzzing, ten minutes for each target'
	@scripts/fuzz 600

fuzz: ## Fuzz every target for SECONDS (default 60), with a stable compiler
	@scripts/fuzz $(or $(SECONDS),60)

bench: browser ## Measure start, memory, calls and page tools, and print the numbers
	@$(CARGO) build --release --quiet --package tabmux
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
	@cd fixtures/demo-apps && npm ci --silent --no-audit --no-fund --ignore-scripts

$(script_packages): %/node_modules/.package-lock.json: %/package-lock.json
	@cd $* && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

# Third-party clients at fixed versions; fetched when the versions change. About 2 GB.
client-packages: clients/node_modules/.package-lock.json clients/agents/node_modules/.package-lock.json \
                 target/clients/venv/made target/clients/venv-langchain/made
	@scripts/vite-application

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

browser:
	@scripts/ensure-browser

# From here on the time of each phase is noted.
times:
	@scripts/phase --begin
