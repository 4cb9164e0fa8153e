package pod

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/k8s/tunnel"
	"gcity/session"
	"gcity/session/pty"
)

// provider is the provider of the pod's only session.
type provider struct{ *pty.Provider }

// Start implements session.Provider. The environment is the container's, with what the configuration adds: PATH and
// HOME of the controller's machine mean nothing here.
func (p *provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	s.Env = environ(os.Environ(), s.Configured())
	return p.Provider.Start(ctx, s)
}

// environ returns an agent's environment: its container's, then what is configured. The last value of a name counts.
func environ(container, configured []string) []string {
	values := map[string]string{"TERM": "xterm-256color"}
	for _, kv := range slices.Concat(container, []string{"TERM=xterm-256color"}, configured) {
		if name, value, ok := strings.Cut(kv, "="); ok {
			values[name] = value
		}
	}
	if values["PATH"] == "" {
		values["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	values["PATH"] = tunnel.Commands + ":" + values["PATH"]
	out := make([]string, 0, len(values))
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// markCity makes a folder one that gcity's commands take for a city that has a controller. Its configuration stays on
// the controller's machine.
func markCity(city string) error {
	// a volume that any user may write to is not trusted; it may belong to root
	_ = os.Chmod(city, 0o755)
	f, err := os.OpenFile(filepath.Join(city, ".gc", "controller.lock"), os.O_CREATE|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
