// Package env holds what all commands share: the streams, the flags, and the ways to reach a city.
//
// Env is a value of its command. A command runs in the goroutine of cli.Main; the few goroutines that it starts to wait
// for something end before it does.
package env
