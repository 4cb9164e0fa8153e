//go:build !noforcegc

package main

// sleepDeeply does nothing in a plain build.
func sleepDeeply() {}
