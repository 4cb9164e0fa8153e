// Package whole holds the whole program against its promises from outside: real agents, real signals, the binary as
// it is shipped. It has tests of what must survive, and benchmarks beside a floor that does the same with nothing
// but fork, exec and wait (`make bench`).
package whole
