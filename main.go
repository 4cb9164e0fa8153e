// Command gcity keeps the terminal agents of a city running and shows them.
package main

import (
	"os"

	"gcity/cli"
	"gcity/session/pty"
	"gcity/session/tmux"
)

// version is set by the linker; see the Makefile.
var version = "dev"

func main() {
	// this process only holds the session of one agent: it must stay small, so nothing else is set up in it
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(tmux.Pane())
	}
	os.Exit(cli.Main(os.Args[1:], version))
}
