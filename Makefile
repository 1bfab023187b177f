# The menu. Two commands do all the set-up: `make demo` and `make test`.

.DEFAULT_GOAL := help
.PHONY: help demo test check clients soak fuzz bench fmt gen browser demo-apps client-packages

CARGO ?= cargo
phase = @printf '==> %s\n'
# Without nextest the tests still run, only with less care for slow ones.
nextest := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)

# Somebody who watches wants to see that the compiler is at work.
quiet := $(shell test -t 2 || echo --quiet)
# What checks the scripts and builds them; installed again when its versions change.
script_packages := $(addsuffix node_modules/.package-lock.json, $(CURDIR)/ packages/page/ packages/extension/)
soak_sizes := TABMUX_WALKS=20000 PROPTEST_CASES=20000

help: ## Show this menu
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf 'make %-7s %s\n' "$$name" "$$text"; done

demo: browser ## Watch an agent work in a real browser (installs Chromium if there is no browser)
	$(phase) 'Building tabmux (the first time takes some minutes)'
	@$(CARGO) build --release $(quiet) --package tabmux
	@$(CARGO) run --release --quiet --package tabmux -- demo

test: browser demo-apps check ## Everything that must pass, tests with a real browser included
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
	$(phase) 'All is well'

clients: browser client-packages ## Connect MCP clients that others wrote (CLIENTS="codex vite" for some, CLIENTS=--write-table)
	$(phase) 'Clients that others wrote'
	@$(CARGO) build $(quiet) --package tabmux
	@python3 clients/run.py $(CLIENTS)

check: $(script_packages) ## Format, lints, types of scripts and documentation, without running tests
	$(phase) 'Format'
	@$(CARGO) fmt --all --check
	$(phase) 'Lints'
	@$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	@$(CARGO) metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 >/dev/null
	$(phase) 'Scripts'
	@npm run --silent check
	$(phase) 'Documentation'
	@RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --quiet

soak: browser demo-apps ## The tests again with many more seeds; takes long
	$(phase) 'Soak'
ifeq ($(nextest),yes)
	@CI=true TABMUX_SOAK=1 $(soak_sizes) $(CARGO) nextest run --workspace --exclude xtask --release --cargo-quiet --profile soak
else
	@CI=true TABMUX_SOAK=1 $(soak_sizes) RUST_TEST_THREADS=2 $(CARGO) test --workspace --exclude xtask --release --quiet
endif
	$(phase) 'Fuzzing, ten minutes for each target'
	@scripts/fuzz 600

fuzz: ## Fuzz every target for SECONDS (60 unless you say), with a stable compiler
	@scripts/fuzz $(or $(SECONDS),60)

bench: browser ## Measure start, memory, calls and tools of pages, and print the numbers
	@$(CARGO) build --release --quiet --package tabmux
	@$(CARGO) xtask bench

fmt: $(CURDIR)/node_modules/.package-lock.json ## Format the code
	@$(CARGO) fmt --all
	@npm run --silent format

gen: $(script_packages) ## Rewrite what is generated: protocol types, the extension, docs/tools.md, docs/proofs.md
	@$(CARGO) xtask codegen
	@cd packages/extension && npm run --silent build
	@$(CARGO) xtask proofs

# Pages that nobody here wrote, for the tests of generated tools.
demo-apps:
	@cd fixtures/demo-apps && npm ci --silent --no-audit --no-fund --ignore-scripts

$(script_packages): %/node_modules/.package-lock.json: %/package-lock.json
	@cd $* && npm ci --silent --no-audit --no-fund && touch node_modules/.package-lock.json

# Clients of many makers, each with its version fixed; fetched when those change. About 2 GB.
client-packages: clients/node_modules/.package-lock.json clients/agents/node_modules/.package-lock.json \
                 target/clients/venv/made target/clients/venv-langchain/made
	@scripts/vite-application

%/node_modules/.package-lock.json: %/package-lock.json
	$(phase) 'Fetching clients: $*'
	@# Not `npm ci`: it refuses a lock file without the binaries of other systems, of which some are in no registry.
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
