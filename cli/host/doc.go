// Package host is the composition root: it assembles the parts of a city or a supervisor and runs them, in this
// process or in one that it starts.
//
// # Concurrency
//
// A hosted city runs in a group of goroutines for the loop, the socket and the signals. They end before Host returns.
package host
