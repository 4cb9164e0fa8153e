package pod

import (
	"slices"
	"testing"
)

// An agent gets the environment of its container, overridden by the configured variables.
func TestEnviron(t *testing.T) {
	got := environ(
		[]string{"PATH=/opt/tools", "HOME=/home/agent", "LANG=C"},
		[]string{"GC_AGENT=a", "LANG=en_GB.UTF-8", "TERM=dumb"},
	)
	want := []string{
		"GC_AGENT=a", "HOME=/home/agent", "LANG=en_GB.UTF-8", "PATH=/gcity/bin:/opt/tools", "TERM=dumb",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := environ(nil, nil); !slices.Contains(got, "TERM=xterm-256color") {
		t.Errorf("no TERM in %q", got)
	}
}
