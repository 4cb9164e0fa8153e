// Command gcity keeps a declared city of terminal agents alive and shows it.
package main

import (
	"os"

	"gcity/cli"
	"gcity/session/pty"
	"gcity/session/tmux"
)

// version is set by the linker, see the Makefile.
var version = "dev"

func main() {
	// The process of one agent: small, and nothing of the rest may be set up in it.
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(tmux.Pane())
	}
	os.Exit(cli.Main(os.Args[1:], version))
}
