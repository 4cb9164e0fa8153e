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
