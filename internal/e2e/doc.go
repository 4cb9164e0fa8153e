// Package e2e tests the whole program from outside, with the shipped binary, real agents and real signals. It also
// contains the benchmarks that compare gcity with plain fork, exec and wait (`make bench`).
package e2e
