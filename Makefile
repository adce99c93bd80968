# The commands of the house. `make run` and `make test` do their own set-up.

CARGO ?= cargo
.DEFAULT_GOAL := help
.PHONY: help system setup run test check bars bench clean

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

system: ## install what the system lacks (Debian, Ubuntu)
	@./tests/system.sh

setup: system ## build, then prepare the code runtime once per machine
	$(CARGO) build
	target/debug/wildgym setup

run: setup ## run the built-in suite with the reference agent
	target/debug/wildgym run starter --agent reference

test: setup ## every test
	@./tests/miniwob.sh
	@./tests/mcp.sh
	WILDGYM_REQUIRE_RUNTIME=1 $(CARGO) test --workspace

check: ## formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

bars: setup ## the long ones: crash loops, crowds, an hour of fuzzing; each prints its figure
	$(CARGO) build --release
	WILDGYM_BARS=1 $(CARGO) test --release --test crash --test alive --test campaign --test gate --test http --test inject --test metrics --test starter -- --nocapture --test-threads 1
	WILDGYM_BARS=1 $(CARGO) test --release -p wildgym -p wildgym-sandbox --lib -- web::recording web::warc world::tests::random metrics::bootstrap --nocapture
	WILDGYM_BARS=1 $(CARGO) test --release -p wildgym -p wildgym-sandbox --test files -- mutations --nocapture
	WILDGYM_BARS=1 $(CARGO) test --release --test enterprise -- random --nocapture

bench: setup ## speed against named peers, see benches/README.md
	$(CARGO) bench --bench browser --bench documents --bench execute_code --bench http --bench inject --bench report --bench web --bench world

clean: ## remove what was built here; the code runtime stays in the cache
	$(CARGO) clean
