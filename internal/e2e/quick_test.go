package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// Package quick and package cli print the same peek.
func TestPeekIsQuick(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.lines(map[string]string{"plain": `echo "one │ two"; exec cat`, "emoji": `echo "one 🎉 two"; exec cat`})
	c.run()
	c.until("all run", func() bool { return c.count("running") == 2 })
	c.sees("plain", "one │ two")
	c.sees("emoji", "one 🎉 two")
	for line, quick := range map[string]bool{
		"plain": true, "plain -n 5": true, "emoji": false, "plain --json": false, "none": false,
	} {
		cmd := exec.Command(c.bin, append([]string{"agent", "peek"}, strings.Fields(line)...)...)
		cmd.Dir = c.dir
		cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if found := strings.Contains(string(out), "one"); found != (line != "none") || found != (err == nil) {
			t.Errorf("%s: %q, %v", line, out, err)
		}
		if slow := strings.Contains(stderr.String(), "init net/http "); slow == quick {
			t.Errorf("%s: got quick = %v", line, !slow)
		}
	}
}
