// Package env defines what all commands share: the streams, the flags, and access to a city.
//
// Each command has its own Env. A command runs in the goroutine of cli.Main. It may start a few goroutines, which
// end before it returns.
package env
