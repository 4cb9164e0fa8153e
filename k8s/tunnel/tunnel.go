// Package tunnel carries many connections in both directions over one byte stream, such as one exec through the
// Kubernetes API.
package tunnel

import (
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Paths in the pod. They are the same in each container.
const (
	Folder = "/gcity"              // mount point of the volume with the programs and the socket
	Binary = Folder + "/gcity-pod" // program that runs in the pod
	Socket = Folder + "/pod.sock"  // the pod's end of the tunnel
	// the pod's end of tunnels that do not replace the controller's tunnel
	ObserverSocket = Folder + "/observer.sock"
	Commands       = Folder + "/bin"     // folder on the PATH of agents
	Gcity          = Commands + "/gcity" // the gcity program that agents use to call the controller
)

// Usage is the beginning of gcity-pod's error for an unknown command.
const Usage = "this program runs in gcity's pods"

// Grace is the environment variable that contains a pod's grace period in seconds.
const Grace = "GCITY_POD_GRACE"

// Near the end of a pod's grace period, gcity-pod interrupts the agent, which then has stopGrace to exit. It kills the
// agent killMargin before Kubernetes would.
const (
	stopGrace  = 8 * time.Second
	killMargin = 4 * time.Second
)

// EndOfPod returns when gcity-pod interrupts an agent, measured from the start of the pod's grace period, and how long
// the agent then has to exit. Without a connection to the controller, gcity-pod interrupts the agent immediately.
func EndOfPod(grace time.Duration) (interrupt, last time.Duration) {
	last = min(stopGrace, grace/3)
	return grace - last - killMargin, last
}

// Remote is the environment variable with the city's path. It makes gcity's commands in a pod use only the city's
// controller.
const Remote = "GCITY_REMOTE"

// FilesPath is the URL path for a tar archive of an agent's working folder.
const FilesPath = "/v1/files"

// Client returns the helper's end of a tunnel.
func Client(rw io.ReadWriteCloser) (*yamux.Session, error) { return yamux.Client(rw, config()) }

// Server returns the pod's end of a tunnel.
func Server(rw io.ReadWriteCloser) (*yamux.Session, error) { return yamux.Server(rw, config()) }

// config returns settings that keep an idle stream open through proxies, and detect a dead stream within a minute.
func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.KeepAliveInterval = 20 * time.Second
	c.ConnectionWriteTimeout = 20 * time.Second
	c.LogOutput = io.Discard
	return c
}
