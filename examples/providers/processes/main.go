// Processes is a helper program for the session protocol. It runs agents as processes on this machine, without a
// terminal. Build it with `go build ./examples/providers/processes`, and select it in city.toml: [session] provider =
// "plugin:./processes".
package main

import (
	"context"
	"fmt"
	"os"

	"gcity/session/protocol"
	"gcity/session/pty"
	"gcity/session/subprocess"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hold" { // this program also acts as each agent's holder
		os.Exit(pty.Hold())
	}
	if err := protocol.Serve(context.Background(), open); err != nil {
		fmt.Fprintln(os.Stderr, "processes:", err)
		os.Exit(1)
	}
}

func open(_ context.Context, r protocol.OpenRequest) (protocol.Opened, error) {
	exe, err := os.Executable()
	if err != nil {
		return protocol.Opened{}, err
	}
	p, err := subprocess.New(subprocess.Options{City: r.City, Binary: exe, Observe: r.Observe})
	if err != nil {
		return protocol.Opened{}, err
	}
	closeIt := func() { p.Close() } // the agents keep running
	return protocol.Opened{Name: "processes", Provider: p, Close: closeIt}, nil
}
