# gcity is one static binary. Most targets need only Go and a POSIX shell. `make` lists the targets.
export CGO_ENABLED ?= 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  = -X main.version=$(VERSION)
HOLDBIN  = session/pty/holdbin/gcity-hold-linux-
# With the tag noforcegc, the Go runtime of an idle holder does not wake up each minute. It needs -checklinkname=0.
HOLDFLAGS = -trimpath -tags noforcegc -ldflags '-s -w -checklinkname=0'
# With the garbage collector from before Go 1.26, each holder needs 50 kB less memory.
HOLDENV  = GOOS=linux CGO_ENABLED=0 GOEXPERIMENT=nogreenteagc
# The race detector makes these packages several times slower, and finds no mistakes of ours in them: SQLite is C
# translated to Go, and the others parse text, measure its width or style it.
NORACED  = modernc.org/sqlite/lib modernc.org/libc github.com/BurntSushi/toml gcity/internal/grapheme \
	regexp go/ast go/parser go/scanner go/token \
	github.com/charmbracelet/x/ansi github.com/charmbracelet/x/ansi/parser github.com/charmbracelet/x/vt \
	github.com/charmbracelet/ultraviolet github.com/charmbracelet/ultraviolet/screen \
	github.com/charmbracelet/colorprofile charm.land/lipgloss/v2 github.com/mattn/go-runewidth \
	github.com/clipperhouse/displaywidth github.com/clipperhouse/uax29/v2/graphemes
NORACE   = $(foreach package,$(NORACED),'-gcflags=$(package)=-dwarf=false -race=false')
FUZZTIME ?= 20s
MINUTES ?= 5
SEED    ?= 0
CITY    ?= demo
IMAGE   ?= gcity-pod:1
CONTROLLER_IMAGE ?= gcity-controller:1
ROUNDS  ?= 50
AGENTS  ?= 20

.DEFAULT_GOAL := help
.PHONY: help build k8s image controller-image test-k8s faults-k8s testcluster man packaging release-check demo test short goldens bench bench-peers screenshots fuzz faults fmt lint budgets clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 18

build: ## bin/gcity, with the holder program embedded
	$(HOLDENV) go build $(HOLDFLAGS) -o $(HOLDBIN)$$(go env GOARCH) ./session/pty/gcity-hold
	go build -trimpath -tags holder -ldflags '$(LDFLAGS)' -o bin/gcity.linked .
	@# The linker leaves its output in the page cache as single pages. A copy has large ones, as an installed program
	@# has. Each command then starts 1 ms faster.
	cp bin/gcity.linked bin/gcity.copy && mv -f bin/gcity.copy bin/gcity && rm bin/gcity.linked

k8s: ## bin/gcity-session-k8s and bin/gcity-pod, which run agents as Kubernetes pods
	cd k8s && go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o ../bin/ ./cmd/...

test-k8s: ## test the Kubernetes provider on a temporary cluster or on GCITY_TEST_KUBECONFIG; skipped if no cluster can run
	cd k8s && go build -o ../build/testcluster ./testcluster && ../build/testcluster run go test -timeout 15m ./...

image: build k8s ## build/gcity-pod.tar, the image for the pods of agents; needs no Docker (IMAGE=name:tag)
	mkdir -p build/image
	cp bin/gcity-pod build/image/
	go build -trimpath -tags holder -ldflags '-s -w $(LDFLAGS)' -o build/image/gcity .
	cd k8s && go run ./mkimage '$(IMAGE)' ../build/gcity-pod.tar gcity-pod=../build/image/gcity-pod bin/gcity=../build/image/gcity

faults-k8s: ## kill the controller, the helper and each part of a test cluster in turn (ROUNDS=50 AGENTS=20 SEED=0)
	cd k8s && go build -o ../build/testcluster ./testcluster && ../build/testcluster run go test -timeout 90m -v \
		./e2e -run '^TestFaults$$' -rounds '$(ROUNDS)' -agents '$(AGENTS)' -seed '$(SEED)'

controller-image: image ## build/gcity-controller.tar, the image for a controller in a cluster (CONTROLLER_IMAGE=name:tag)
	cp bin/gcity-session-k8s build/image/
	cd k8s && go run ./mkimage '$(CONTROLLER_IMAGE)' ../build/gcity-controller.tar gcity-pod=../build/image/gcity-pod \
		bin/gcity=../build/image/gcity bin/gcity-session-k8s=../build/image/gcity-session-k8s

testcluster: ## build the Kubernetes programs of the test cluster into the user's cache (once, fifteen minutes)
	cd k8s && go run ./testcluster build

man: build ## manual pages in build/man
	rm -rf build/man
	bin/gcity man --dir build/man

packaging: man ## the other files of a release: manual pages, completions, holders for each architecture
	for arch in amd64 arm64; do \
		$(HOLDENV) GOARCH=$$arch go build $(HOLDFLAGS) -o $(HOLDBIN)$$arch ./session/pty/gcity-hold || exit 1; \
	done
	mkdir -p build/completions
	for shell in bash zsh fish; do bin/gcity completion $$shell >build/completions/gcity.$$shell || exit 1; done

release-check: packaging ## check the files of a release, also with goreleaser if it is installed; publishes nothing
	go test ./internal/arch -run Release
	@if command -v goreleaser >/dev/null; then goreleaser check && goreleaser release --snapshot --clean --skip=publish; \
	else echo 'goreleaser is not installed: skipped'; fi

demo: build ## control room on a copy of an example city (CITY=demo, town or chain; HEADLESS=1: ten seconds without a terminal)
	@HEADLESS='$(HEADLESS)' sh examples/run.sh bin/gcity '$(CITY)'

test: ## all tests, with the race detector (needs a C compiler)
	@# Most tests wait for processes, so the packages that wait longest run first, and more at a time than there are cores.
	@# The compiler and the linker are also faster with less garbage collection, debug information and symbols, and the
	@# compiler without inlining (-l). GOMEMLIMIT limits each compiler and linker process; the tests run with GOGC=400.
	@# .ci/lint runs go vet. No program sleeps for a second at its exit, as the race detector would let it do.
	GOGC=off GOMEMLIMIT=600MiB CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 $$GORACE" \
		GOFLAGS="$$(go env GOFLAGS) -ldflags=-s -gcflags=all=-dwarf=false '-gcflags=gcity/...=-dwarf=false -l' $(NORACE)" \
		go test -exec 'env -u GOMEMLIMIT GOGC=400' -race -vet=off -timeout 20m -p 6 -parallel 4 ./internal/e2e ./cli ./tui ./api ./controller ./internal/faults ./...

short: ## tests without whole cities, external providers and long waits; no race detector, no go vet
	@# Most tests wait for processes, so more of them run at the same time than there are cores. The packages that wait
	@# longest run first. The linker is also faster without garbage collection.
	GOGC=off GOMEMLIMIT=400MiB go test -short -vet=off -p 6 -parallel 8 \
		./events/mirror ./session/pty ./tui ./cli ./api ./config/watch ./controller/perform \
		$$(go list ./... | grep -vE \
			'/(internal/(e2e|faults|benchpeers|statusrow)|screenshots|topology|session/(plugin|script|subprocess|tmux)|beads/(bd|script)|cli/(consent|doctor|host|offline|service|sessions|workstore))$$')

goldens: ## rewrite the golden files of all tests and the generated pages of docs/
	go test ./automation ./beads/bd ./cli ./cli/service ./config ./controller/machine ./formula ./migrate ./tui -update

bench: build ## measure the figures of docs/benchmarks.md
	go test -run '^$$' -bench . -benchtime 1s ./...

bench-peers: build ## compare gcity with runit, tmux, supervisord and process-compose (N=100,500 RUNS=3 PEERS=gcity,floor,tmux; needs cgroups)
	@go run ./internal/benchpeers -gcity bin/gcity -n '$(N)' -runs '$(RUNS)' -peers '$(PEERS)'

screenshots: ## create the pictures of README and docs, and the tour (needs the font DejaVu Sans Mono)
	go run ./screenshots

fuzz: ## run every fuzz target for FUZZTIME (20s)
	@go list ./... | while read -r pkg; do \
		for target in $$(go test -list '^Fuzz' "$$pkg" | grep '^Fuzz'); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 20x "$$pkg" || exit 1; \
		done; \
	done

faults: build ## inject random faults into a real city for MINUTES (5; before a release 60); SEED=N repeats a run
	go run ./internal/faults -gcity bin/gcity -minutes '$(MINUTES)' -seed '$(SEED)'

fmt: ## format with gofmt
	gofmt -w .

lint: ## run gofmt, go vet, golangci-lint and govulncheck, also on k8s/ (the last two in pinned versions, built if not cached)
	CGO_ENABLED=0 sh .ci/lint

budgets: ## rewrite the lists of exceeded budgets and marked wording (they can only shrink), also after merge conflicts
	go test ./internal/arch -run '^Test(Budgets|Wording)$$' -update

clean: ## remove all build results
	rm -rf bin build dist $(HOLDBIN)*
