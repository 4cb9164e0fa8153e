// Package env has what all commands share: the streams, the flags, and the ways to reach a city.
//
// Each command has its own Env. A command runs in the goroutine of cli.Main; the few goroutines that it starts end
// before it returns.
package env
