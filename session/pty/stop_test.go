package pty

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gcity/internal/eventually"
)

// Stop continues all stopped processes in the tree, because the agent may be waiting for them.
func TestStopContinuesTheWholeTree(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `setsid sh -c 'trap "exit 0" CONT; echo $$ >child.new; mv child.new child; `+
		`while :; do sleep 0.1; done' & c=$!; trap 'wait $c; exit 7' INT; wait $c; wait $c`))
	var child int
	until(t, "the child", func() bool {
		text, err := os.ReadFile(filepath.Join(city, "child"))
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context(), "a", eventually.Timeout/2); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); x.Code != 7 {
		t.Errorf("the agent did not exit on its own: got %+v", x)
	}
}

// A shell that ignores SIGHUP while it starts still exits within the grace period.
func TestStopOfAStartingShell(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	// read is a builtin, so the shell seems to be at its prompt
	rc := "trap '' HUP INT; echo starting; read -t 1 line; trap - HUP INT\n"
	if err := os.WriteFile(filepath.Join(city, "rc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, p, spec(city, "a", "exec bash --rcfile rc -i"))
	shows(t, p, "a", "starting")
	if err := p.Stop(t.Context(), "a", eventually.Timeout/2); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); x.Signal != "SIGHUP" {
		t.Errorf("the shell did not exit on SIGHUP: got %+v", x)
	}
}
