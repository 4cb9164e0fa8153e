// Command gcity keeps a declared city of terminal agents alive and shows it.
package main

import (
	"os"

	"gcity/session/pty"
)

func main() {
	// The process of one agent: small, and nothing of the rest may be set up in it.
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
}
