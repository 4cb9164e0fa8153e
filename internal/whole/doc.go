// Package bench measures the whole program from outside: real agents, real processes, figures beside a floor that does
// the same with nothing but fork, exec and wait. It has benchmarks only; `make bench` runs them.
package bench
