//go:build !noforcegc

package main

// sleepDeeply does nothing without the build tag noforcegc.
func sleepDeeply() {}
