package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/deadline"
)

// cityOf returns the current folder of the city that started a tmux server, even if the city was moved since then. It
// returns "" if that folder or its .gc was deleted, or if a user or an older gcity started the server.
func cityOf(server int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", server)) // see client.command
	city, ok := strings.CutSuffix(dir, "/"+filepath.Join(".gc", "tmux"))
	if err != nil || !ok {
		return ""
	}
	return city
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
	// the original might have been moved
	return c.serverLives() && isOther(cityOf(c.server.PID), c.files.city)
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
	out, err := c.once(ctx, nil, "display-message", "-p", "#{pid}", ";", "list-panes", "-a",
		"-F", "#{pane_dead} #{session_name}")
	if err != nil && !errors.Is(err, errNoPane) {
		if errors.Is(err, errNoServer) {
			return nil
		}
		return fmt.Errorf("cannot check the tmux server: %w", err)
	}
	pid, panes, _ := strings.Cut(out, "\n")
	city := cityOf(number(pid))
	if city == "" || !isOther(city, c.files.city) {
		return nil
	}
	c.mu.Lock()
	remedy := c.server.shellCommand(c.files.city, "kill-server")
	c.mu.Unlock()
	var ended []string
	for line := range strings.Lines(panes) {
		dead, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if dead != "1" { // a user might have created it
			return fmt.Errorf("a city was moved from %s to %s, but its tmux server still runs "+
				"sessions at the old path, such as %s; `%s` stops them", c.files.city, city, name,
				remedy)
		}
		ended = append(ended, name)
	}
	if err := c.removeServer(ctx, number(pid), ended); err != nil {
		return fmt.Errorf("%w; `%s` stops the server", err, remedy)
	}
	return nil
}

// removeServer removes sessions that have ended and waits until their server has exited. The next start creates a
// new server.
func (c *client) removeServer(ctx context.Context, pid int, ended []string) error {
	for _, name := range ended {
		if _, err := c.once(ctx, nil, "kill-session", "-t", "="+name); err != nil && !isGone(err) {
			return err
		}
	}
	if err := c.exitWhenEmpty(ctx); err != nil {
		return err
	}
	for pause := time.Millisecond; cityOf(pid) != ""; pause = min(2*pause, 50*time.Millisecond) {
		if !deadline.Pause(ctx, pause) {
			return fmt.Errorf("the tmux server of a moved city, pid %d, does not exit: %w", pid,
				context.Cause(ctx))
		}
	}
	return nil
}
