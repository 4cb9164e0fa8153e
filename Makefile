# gcity is one static binary; nothing here needs more than Go.
export CGO_ENABLED ?= 0

.PHONY: build test
build: ## bin/gcity
	go build -trimpath -o bin/gcity .

test: ## everything, with the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...
