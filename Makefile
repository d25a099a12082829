# Two commands do it all on a fresh machine: `make demo` and `make test`.
# The environment is .venv, the command .venv/bin/agentls.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check fix gen bench vsix clean

help:
	@echo "make demo    host the demo agent in a sample project, in this terminal"
	@echo "make test    run all tests"
	@echo "make check   lint, types, generated files"
	@echo "make fix     format, mend what can be mended, regenerate"
	@echo "make bench   measure the budgets (table, and build/bench.json)"
	@echo "make vsix    pack the VS Code extension (build/agentls.vsix)"
	@echo "make clean   remove the environment and everything built"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "agentls needs Python 3.11 or later; set PYTHON=/path/to/it"; exit 1; }
	@echo "==> Creating the environment .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv \
	  || { echo "The venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "==> Installing agentls and its tools (once; about half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@
	@echo "==> Ready: .venv/bin/agentls"

setup: $(READY)

vscode-extension/node_modules/.ready: vscode-extension/package.json vscode-extension/package-lock.json
	@echo "==> Installing the TypeScript tools"
	@cd vscode-extension && npm ci --silent --no-fund --no-audit
	@touch $@

demo: $(READY)
	@$(BIN)/agentls demo

test: $(READY) vscode-extension/node_modules/.ready
	@echo "==> Checking style, types and generated files"
	@$(MAKE) --no-print-directory check
	@echo "==> Getting VS Code and a browser for the tests (once; 320 MB)"
	@$(BIN)/python tests/vscode/editors.py > /dev/null
	@$(BIN)/python tests/neovim/programs.py
	@echo "==> Running the tests"
	@$(BIN)/python -m pytest -n auto --dist loadgroup

check: $(READY) vscode-extension/node_modules/.ready
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check --quiet || { echo "make fix would format these files"; exit 1; }
	@$(BIN)/mypy
	@$(BIN)/python server/codegen --check
	@cd vscode-extension && npm run --silent check
	@$(BIN)/python tests/neovim/lint.py

fix: $(READY)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@$(BIN)/python server/codegen
	@$(BIN)/python tests/neovim/lint.py --fix

gen: $(READY)
	@$(BIN)/python server/codegen

bench: $(READY)
	@$(BIN)/python bench/run.py

vsix: vscode-extension/node_modules/.ready
	@mkdir -p build
	@cd vscode-extension && npm run --silent vsix

clean:
	rm -rf .venv build dist vscode-extension/node_modules vscode-extension/build vscode-extension/dist .mypy_cache .ruff_cache .pytest_cache
