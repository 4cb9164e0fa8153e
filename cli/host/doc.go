// Package host is the composition root: it puts the parts of a city or of a supervisor together and runs them, in this
// process or in one that it starts.
//
// # Concurrency
//
// A city that is hosted owns a group of goroutines for the loop, the socket and the signals. They end before Host
// returns.
package host
