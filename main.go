// Command gcity keeps a city's terminal agents running and shows them in a control room.
package main

import (
	"os"

	"gcity/cli"
	_ "gcity/cli/quick"
	"gcity/session/pty"
	"gcity/session/tmux"
)

// version is set at link time; see the Makefile.
var version = "dev"

func main() {
	// the holder of an agent's session must stay small, so start a holder before any setup
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(tmux.Pane())
	}
	os.Exit(cli.Main(os.Args[1:], version))
}
