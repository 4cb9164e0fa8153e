// Gcity-pod runs in gcity's pods; see package pod.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"gcity/k8s/pod"
	"gcity/k8s/tunnel"
	"gcity/session/pty"
)

func main() {
	word := ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	var err error
	switch word {
	case "hold":
		syscall.Exit(pty.Hold())
	case "serve":
		err = pod.Serve(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	case "connect":
		err = pod.Connect(tunnel.Socket)
	case "observe":
		err = pod.Connect(tunnel.ObserverSocket)
	case "install":
		err = pod.Install()
	default:
		err = errors.New(
			tunnel.Usage + "; its commands are serve, connect, observe and install",
		)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gcity-pod:", err)
		os.Exit(1)
	}
}
