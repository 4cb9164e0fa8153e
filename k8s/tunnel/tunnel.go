// Package tunnel carries many connections over one stream of bytes, both ways. Between a helper and a pod the
// stream is one exec of the Kubernetes API.
package tunnel

import (
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Paths in the pod, which are the same in each container.
const (
	Folder   = "/gcity"              // a volume with the programs and the socket that connect dials
	Binary   = Folder + "/gcity-pod" // the program that runs in the pod
	Socket   = Folder + "/pod.sock"  // the pod's end of the tunnel
	Commands = Folder + "/bin"       // on the PATH of agents
	Gcity    = Commands + "/gcity"   // the gcity with which agents report to the controller
)

// Grace is the environment variable with the number of seconds between the request to end a pod and its kill.
const Grace = "GCITY_POD_GRACE"

// FilesPath accepts a tar of an agent's working folder, see package pod.
const FilesPath = "/v1/files"

// Client returns the side of the helper.
func Client(rw io.ReadWriteCloser) (*yamux.Session, error) { return yamux.Client(rw, config()) }

// Server returns the side of the pod.
func Server(rw io.ReadWriteCloser) (*yamux.Session, error) { return yamux.Server(rw, config()) }

// config keeps an idle stream open behind proxies, and detects a dead one within a minute.
func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.KeepAliveInterval = 20 * time.Second
	c.ConnectionWriteTimeout = 20 * time.Second
	c.LogOutput = io.Discard
	return c
}
