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

// Start implements session.Provider. The environment is the container's, plus the configured variables. PATH and
// HOME of the controller's machine have no meaning in the pod.
func (p *provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	s.Env = environ(os.Environ(), s.Configured())
	return p.Provider.Start(ctx, s)
}

// environ returns an agent's environment: the container's, then the configured variables. The last value of a name
// counts.
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

// markCity prepares a folder so that gcity's commands treat it as a city with a controller. The configuration stays
// on the controller's machine.
func markCity(city string) error {
	// gcity does not trust a folder that any user may write to; root may own the volume
	_ = os.Chmod(city, 0o755)
	f, err := os.OpenFile(filepath.Join(city, ".gc", "controller.lock"), os.O_CREATE|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
