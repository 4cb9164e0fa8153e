# gcity is one static binary; nothing here needs more than Go and a POSIX shell. `make` lists what there is.
export CGO_ENABLED ?= 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  = -X main.version=$(VERSION)
HOLDBIN  = session/pty/holdbin/gcity-hold-linux-
# The tag keeps the runtime of a holder at rest from waking each minute. The linker allows it only with -checklinkname=0.
HOLDFLAGS = -trimpath -tags noforcegc -ldflags '-s -w -checklinkname=0'
# The collector that Go had before 1.26 takes 50 kB less of each holder.
HOLDENV  = GOOS=linux CGO_ENABLED=0 GOEXPERIMENT=nogreenteagc
FUZZTIME ?= 20s
MINUTES ?= 5
SEED    ?= 0
CITY    ?= demo
IMAGE   ?= gcity-pod:1

.DEFAULT_GOAL := help
.PHONY: help build k8s image test-k8s testcluster man packaging release-check demo test short bench bench-peers screenshots fuzz faults fmt lint budgets clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

build: ## bin/gcity, with the program that holds an agent inside
	$(HOLDENV) go build $(HOLDFLAGS) -o $(HOLDBIN)$$(go env GOARCH) ./session/pty/gcity-hold
	go build -trimpath -tags holder -ldflags '$(LDFLAGS)' -o bin/gcity .

k8s: ## bin/gcity-session-k8s and bin/gcity-pod: agents as pods of Kubernetes
	cd k8s && go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../bin/ ./cmd/...

test-k8s: ## the provider for Kubernetes on a cluster of its own, or on that of GCITY_TEST_KUBECONFIG; skipped where none can run
	cd k8s && go build -o ../build/testcluster ./testcluster && ../build/testcluster run go test -timeout 15m ./...

image: build k8s ## build/gcity-pod.tar: the image for the pods of agents, without Docker (IMAGE=name:tag)
	mkdir -p build
	cd k8s && go run ./mkimage '$(IMAGE)' ../build/gcity-pod.tar gcity-pod=../bin/gcity-pod bin/gcity=../bin/gcity

testcluster: ## the programs of the test cluster, in the user's cache: ten minutes, once
	cd k8s && go run ./testcluster build

man: build ## the manual pages, in build/man
	rm -rf build/man
	bin/gcity man --dir build/man

packaging: man ## what a release needs besides the program: manual pages, completions, holders for each machine
	for arch in amd64 arm64; do \
		$(HOLDENV) GOARCH=$$arch go build $(HOLDFLAGS) -o $(HOLDBIN)$$arch ./session/pty/gcity-hold || exit 1; \
	done
	mkdir -p build/completions
	for shell in bash zsh fish; do bin/gcity completion $$shell >build/completions/gcity.$$shell || exit 1; done

release-check: packaging ## what a release is made of, and goreleaser's own look at it where that is installed; publishes nothing
	go test ./internal/arch -run Release
	@if command -v goreleaser >/dev/null; then goreleaser check && goreleaser release --snapshot --clean --skip=publish; \
	else echo 'goreleaser is not installed: skipped'; fi

demo: build ## the control room on a copy of an example city (CITY=town or chain: another one; HEADLESS=1: ten seconds without a terminal)
	@HEADLESS='$(HEADLESS)' sh examples/run.sh bin/gcity '$(CITY)'

test: ## everything, with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -timeout 20m ./...

short: ## the same without the race detector and the long drills
	go test -short ./...

bench: build ## the figures of docs/benchmarks.md
	go test -run '^$$' -bench . -benchtime 1s ./...

bench-peers: build ## gcity beside runit, tmux, supervisord and process-compose (N=100,500 RUNS=3 PEERS=gcity,floor,tmux; needs cgroups)
	@go run ./internal/benchpeers -gcity bin/gcity -n '$(N)' -runs '$(RUNS)' -peers '$(PEERS)'

screenshots: ## the pictures of README and docs, and the tour (needs the font DejaVu Sans Mono)
	go run ./screenshots

fuzz: ## every fuzz target for FUZZTIME (20s)
	@go list ./... | while read -r pkg; do \
		for target in $$(go test -list '^Fuzz' "$$pkg" | grep '^Fuzz'); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 20x "$$pkg" || exit 1; \
		done; \
	done

faults: build ## random faults against a real city for MINUTES (5), SEED=N to repeat; an hour before a release
	go run ./internal/faults -gcity bin/gcity -minutes '$(MINUTES)' -seed '$(SEED)'

fmt: ## gofmt
	gofmt -w .

lint: ## gofmt, go vet, golangci-lint and govulncheck; builds the last two, in pinned versions, if they are not in the cache
	CGO_ENABLED=0 sh .ci/lint

budgets: ## rewrite the lists of code over its budget and of marked wording, downwards only; resolves conflicts in them
	go test ./internal/arch -run '^Test(Budgets|Wording)$$' -update

clean: ## remove what was built
	rm -rf bin build dist $(HOLDBIN)*
