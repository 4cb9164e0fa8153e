package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// cityOf returns the current folder of the city to which an agent's process belongs. The process holds a lock in that
// folder. cityOf returns "" if the process does not hold the lock, or if the lock file was removed.
func cityOf(pid int, session string) string {
	below := "/" + filepath.Join(".gc", "tmux", session, lockFile)
	for _, path := range proc.OpenPaths(pid) {
		if city, ok := strings.CutSuffix(path, below); ok {
			return city
		}
	}
	return ""
}

// copied reports whether the recorded server belongs to another city, of which this city's folder is a copy.
func (c *client) copied() bool {
	from := c.server.City
	if from == "" || from == c.files.city {
		return false
	}
	original, err := readServer(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // a file that cannot be read may belong to another user
	}
	if err == nil && original.PID == c.server.PID && original.Start == c.server.Start &&
		isOther(from, c.files.city) {
		return true
	}
	return c.files.runElsewhere() // the original might have been moved
}

// runElsewhere reports whether a process in this city's records is an agent of another city.
func (f *folders) runElsewhere() bool {
	sessions, err := disk.ReadDir(f.dir)
	if err != nil {
		return false
	}
	for _, s := range sessions {
		var rec record
		if readJSON(f.path(s.Name(), recordFile), &rec) != nil || !rec.lives(f.boot) {
			continue
		}
		if city := cityOf(rec.PID, s.Name()); city != "" && isOther(city, f.city) {
			return true
		}
	}
	return false
}

// isOther reports whether two paths lead to different folders. It returns false if that is unknown.
func isOther(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && !os.SameFile(one, other)
}

// checkForeign returns an error if the city's server runs agents of another city. A server is found by the path of its
// city, so this happens if a city was moved while its agents ran, and another city was created at its old path.
func (c *client) checkForeign(ctx context.Context) error {
	if c.files.observe {
		return nil
	}
	out, err := c.once(ctx, nil, "list-panes", "-a", "-F",
		"#{pane_dead} #{pane_pid} #{session_name}")
	if isGone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot check the agents in tmux: %w", err)
	}
	c.mu.Lock()
	remedy := c.server.shellCommand(c.files.city, "kill-server")
	c.mu.Unlock()
	for line := range strings.Lines(out) {
		dead, pane, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		pid, mangled, _ := strings.Cut(pane, " ")
		session, ok := unmangle(mangled)
		if !ok || dead == "1" { // another process may have the PID of a dead pane by now
			continue
		}
		if city := cityOf(number(pid), session); city != "" && isOther(city, c.files.city) {
			return fmt.Errorf("a city was moved from %s to %s, but its agents in tmux still run "+
				"at the old path; `%s` stops them", c.files.city, city, remedy)
		}
	}
	return nil
}
