package tui

import (
	"fmt"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
)

// If many agents start together, the header shows how many of them are running.
func TestTheHeaderShowsAWave(t *testing.T) {
	s := newStage(t, Options{})
	s.size(140, 40)
	snap := func(rev uint64, after time.Duration, running int) {
		n := demoSnapshot(epoch)
		n.Rev, n.At, n.Agents = rev, epoch.Add(after), nil
		for i := range 40 {
			a := city.Agent{Name: fmt.Sprintf("a-%02d", i), State: city.Starting, Since: epoch}
			if a.Running = i < running; a.Running {
				a.State = city.Running
			}
			n.Agents = append(n.Agents, a)
		}
		s.hear(feed.News{Snap: n})
	}
	snap(100, 0, 0)
	s.shows("starting: 0 of 40 agents")
	snap(101, 10*time.Second, 10)
	s.shows("starting: 10 of 40 agents, 30s left")
	snap(102, 20*time.Second, 40)
	s.hides("of 40 agents")
}
