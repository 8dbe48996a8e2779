# What people do with this repository, one word each. `make` lists the words.
# Everything sets itself up: tools and database servers are fetched into
# $QGEN_CACHE (default ~/.cache/qgen) on first use; nothing needs root or Docker.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

export QGEN_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/qgen

GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := $(QGEN_CACHE)/golangci-lint-$(GOLANGCI_LINT_VERSION)

FUZZTIME ?= 20s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: generate
generate: ## write the packages of the examples, of the conformance suite and of the corpus
	go run ./cmd/qgen generate
	cd example/situations && go run ../../cmd/qgen generate
	cd test/conformance && go run ../../cmd/qgen generate
	cd test/corpus && go run ../../cmd/qgen generate

.PHONY: test
# The longest package goes first, and more of them run at once than there are processors: much
# of their time is spent waiting for servers. What vet would say, lint says.
test: ## run every test, with the servers that test/servers/with starts
	test/servers/with go test -vet=off -timeout 40m -p $$(($$(nproc) + 2)) ./test/conformance ./...

.PHONY: short
short: ## run the tests that need no server, quickly
	QGEN_TEST_REQUIRE= go test -short ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## run golangci-lint over the project and over the code it emits
	$(GOLANGCI_LINT) run ./...

$(GOLANGCI_LINT):
	GOBIN=$(QGEN_CACHE)/part go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(QGEN_CACHE)/part/golangci-lint $@

.PHONY: golden
golden: ## write the expected files of the tests anew; read the diff afterwards
	UPDATE_GOLDEN=1 go test -short ./internal/... ./cmd/...

.PHONY: check
check: ## all that continuous integration checks
	.ci/run

.PHONY: demo
demo: ## generate the example and watch it work through 10,000 jobs
	go run ./cmd/qgen generate
	go run ./example

# TMPDIR=/dev/shm leaves the disk out of it.
.PHONY: bench
bench: ## measure the generator, beside sqlc on the same schema
	go test -run '^$$' -bench . -benchtime 5x ./test/bench

.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME (default 20s)
	@for package in $$(go list ./internal/... ./cmd/...); do \
		for name in $$(go test -list '^Fuzz' "$$package" | grep '^Fuzz' || true); do \
			echo "fuzz: $$package $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package"; \
		done; \
	done
