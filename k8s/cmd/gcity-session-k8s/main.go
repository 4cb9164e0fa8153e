// Gcity-session-k8s is the session helper that runs agents as pods: [session] provider = "k8s".
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"gcity/k8s/cluster"
	"gcity/session/protocol"
)

var version = "dev"

func main() {
	klog.SetLogger(logr.Discard()) // the Provider reports client-go's errors itself
	if err := protocol.Serve(context.Background(), open); err != nil {
		fmt.Fprintln(os.Stderr, "gcity-session-k8s:", err)
		os.Exit(1)
	}
}

func open(_ context.Context, r protocol.OpenRequest) (protocol.Opened, error) {
	settings, err := cluster.ReadSettings(r.Settings)
	if err != nil {
		return protocol.Opened{}, err
	}
	p, err := cluster.New(cluster.Options{
		City: r.City, Observe: r.Observe, Settings: settings,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return protocol.Opened{}, err
	}
	return protocol.Opened{Name: "k8s", Version: version, Provider: p, Close: p.Close}, nil
}
