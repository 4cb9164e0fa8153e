// Package e2e tests the whole program from the outside, with the real binary, agents and signals. It also contains the
// benchmarks (`make bench`).
package e2e
