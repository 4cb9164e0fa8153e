package tui

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"gcity/city"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// On screens of at least 160 columns, an agent's row has a chart of its CPU usage.
func TestRowsHaveAChartOfTheCPU(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		s := demo(t, 160, 40)
		if ascii {
			s.m.Terminal.ASCII = true
			state.ApplyTheme(s.m)
		}
		s.shows("from 10:42") // the chart has no older data
		s.wait(time.Minute - time.Duration(s.now.Second())*time.Second)
		for i := range 12 {
			s.agent("builder", func(a *city.Agent) { a.Usage = &city.Usage{CPU: float64(i * 20), RSS: 100 << 20} })
			s.wait(time.Minute)
		}
		s.agent("builder", func(a *city.Agent) { a.Usage = &city.Usage{CPU: 0, RSS: 50 << 20}; a.Restarts += 3 })
		want := "▆▆▇▇▇▇████"
		if ascii {
			want = "++****####"
		}
		row := func() string {
			_, y := s.where("builder  ")
			return strings.Split(s.text(), "\n")[y]
		}
		if !strings.Contains(row(), want) {
			t.Errorf("the row has no %s: %s", want, row())
		}
		before := s.m.Agents.Hours.CPU("builder", s.now, &s.m.Look.Glyphs, 10)
		s.wait(50 * time.Second)
		s.agent("builder", func(a *city.Agent) { a.Usage = &city.Usage{CPU: 800} })
		if got := s.m.Agents.Hours.CPU("builder", s.now, &s.m.Look.Glyphs, 10); got != before {
			t.Errorf("within a minute, %q became %q", before, got)
		}
		s.shows("last 10m")
		s.choose("builder")
		s.press("d")
		s.shows("from 10:42, at most 220%", "from 10:42, at most 100M")
		s.wait(time.Minute)
		s.shows("from 10:42, 3 automatic, while this room was open", "from 10:42, at most 800%")
		s.press("esc")
		s.size(159, 40)
		s.hides("last 10m")
		s.shows("from 10:42, at most 800%", "from 10:42, 3 seen")
		s.size(120, 40)
		s.shows("from 10:42, at most 800%", "from 10:42, at most 100M") // in one line each
		s.wait(50 * time.Minute)
		s.shows("1h, at most 800%", "1h, 3 seen")
	}
}

// A history covers an hour, and only the agents of the latest snapshot.
func TestAHistoryIsBounded(t *testing.T) {
	var h widget.History
	agents := []city.Agent{{Name: "a", Usage: &city.Usage{CPU: 50}}, {Name: "b", Usage: &city.Usage{CPU: 50}}}
	glyphs := demo(t, 80, 24).m.Look.Glyphs
	for i := range 300 {
		h.Observe(agents, epoch.Add(time.Duration(i)*time.Minute))
	}
	now := epoch.Add(300 * time.Minute)
	if c := h.Hour("a", now, &glyphs, 30); strings.Contains(c.CPU, " ") || c.Peak.CPU != 50 {
		t.Errorf("a full hour: %+v", c)
	}
	agents[0].Restarts = 2
	h.Observe(agents[:1], now)
	if c := h.Hour("a", now, &glyphs, 30); c.RestartCount != 2 {
		t.Errorf("%d restarts are counted in the current minute, want 2", c.RestartCount)
	}
	if h.CPU("b", now, &glyphs, 10) != strings.Repeat(" ", 10) {
		t.Error("a removed agent is still in the history")
	}
	if c := h.Hour("a", now.Add(2*time.Hour), &glyphs, 30); c.Peak != nil {
		t.Errorf("after two silent hours: %+v", c)
	}
	agents[0].Restarts, agents[0].Usage = 3, nil
	h.Observe(agents[:1], now.Add(2*time.Hour))
	if c := h.Hour("a", now.Add(2*time.Hour), &glyphs, 30); c.Peak != nil || c.RestartCount != 1 {
		t.Errorf("an agent without a session: %+v", c)
	}
	if n := unsafe.Sizeof(widget.AgentHour{}); n > 512 {
		t.Errorf("size of an agent's history: got %d bytes", n)
	}
}
