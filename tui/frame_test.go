package tui

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
	"gcity/tui/view"
	"gcity/tui/widget"
)

// frame checks the invariants of every screen: exactly h lines, each at most w columns wide, with only text and SGR
// (L12).
func (s *stage) frame(what string) {
	s.t.Helper()
	f := view.Draw(s.m)
	if s.m.W == 0 || s.m.H == 0 {
		return
	}
	if len(f.Lines) != s.m.H {
		s.t.Fatalf("%s: %d lines at %dx%d", what, len(f.Lines), s.m.W, s.m.H)
	}
	for y, l := range f.Lines {
		if w := ansi.StringWidth(l); w > s.m.W {
			s.t.Fatalf("%s: line %d has %d columns at %dx%d: %q", what, y, w, s.m.W, s.m.H, ansi.Strip(l))
		}
		tuitest.OnlyText(s.t, l)
	}
	if f.X >= s.m.W || f.Y >= s.m.H {
		s.t.Fatalf("%s: the cursor is at %d,%d of %dx%d", what, f.X, f.Y, s.m.W, s.m.H)
	}
}

// Every scene is a valid frame at all sizes. To save time, each scene is drawn only at every 31st size.
func TestFrameAtEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	const share = 31
	ws := []int{1, 2, 5, 11, 12, 13, 25, 39, 40, 41, 49, 50, 59, 60, 75, 76, 77, 80, 99, 100, 119, 120, 121, 159, 160, 161, 179, 180, 200, 210}
	hs := []int{1, 2, 4, 5, 6, 9, 10, 11, 16, 21, 22, 23, 24, 27, 28, 39, 40, 41, 60, 70}
	all := allScenes()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		s := demo(t, 120, 40)
		all[name](s)
		for at := i % share; at < len(ws)*len(hs); at += share {
			w, h := ws[at%len(ws)], hs[at/len(ws)]
			s.size(w, h)
			s.frame(fmt.Sprintf("%s at %dx%d", name, w, h))
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(uint8(80), uint8(24), "worker", "running", "crashed 6×", "agent.started", "jjd", "hello\r\n", int64(5))
	f.Add(uint8(40), uint8(10), "日本語エージェント", "quarantined", "é́́́ combining", "x", "3u", "\x1b[31m世界", int64(-900))
	f.Add(uint8(200), uint8(60), "\x1b]0;x\x07", "nonsense", "a\nb\x00\u202e", "\u200b", "5kq", "\x1b[?1049h\x1b[2J", int64(1<<40))
	f.Add(uint8(61), uint8(21), "👨‍👩‍👧‍👦", "failed", "🏳️‍🌈 flags", "🙂.crashed", "0gz/", "👨‍👩‍👧‍👦\u0301", int64(0))
	f.Fuzz(func(t *testing.T, w, h uint8, name, state, why, kind, keys, output string, until int64) {
		s := newStage(t, Options{})
		s.size(int(w), int(h))
		snap := demoSnapshot(epoch)
		withPools(snap)
		withAutomations(snap)
		snap.Name, snap.Config.Rejected = name, why
		snap.Config.Held = &city.Held{Revision: kind, Removes: []string{name, why}, Running: int(until), Plan: []string{why, output}}
		end := epoch.Add(time.Duration(until) * time.Second)
		for i := range snap.Agents {
			a := &snap.Agents[i]
			if i%2 == 0 {
				a.Name, a.State, a.Reason, a.Until, a.PID = fmt.Sprint(name, i), city.State(state), why, &end, int(until)
				a.Usage, a.Next, a.Drain = &city.Usage{CPU: float64(until), RSS: until}, &city.Next{What: why, At: &end}, &city.DrainInfo{By: name}
				a.DependsOn, a.Rig, a.IdleTimeout = []string{name, why}, name, time.Duration(until)
			}
		}
		for i := range snap.Pools {
			p := &snap.Pools[i]
			if i%2 == 0 {
				p.Name, p.Reason, p.Size, p.Desired, p.Max, p.Draining = fmt.Sprint(name, i), why, int(w)-40, int(until), int(until), []string{name, why}
				p.Check.Problem, p.Check.Output, p.Check.Command, p.Check.At, p.Check.Value = why, output, kind, &end, int(until)
			}
		}
		for i := range snap.Automations {
			a := &snap.Automations[i]
			if i%2 == 0 {
				a.Name, a.Reason, a.Gate, a.When, a.State, a.Next, a.Since = fmt.Sprint(name, i), why, kind, output, city.AutomationState(state), &end, &end
				a.Exec, a.Formula, a.Pool, a.Rig, a.Failures, a.Warnings = why, kind, name, name, int(until), []string{why}
				a.Last = &city.Run{ID: name, Reason: why, By: name, Opened: end, Ended: &epoch, Outcome: state, Output: output, Error: why, Made: kind}
			}
		}
		work := someWork()
		work[0].Title, work[0].Assignee, work[0].Labels = why, name, []string{city.PoolLabel + kind}
		work[1].Description, work[1].ID, work[1].Metadata = output, name, map[string]string{kind: why}
		s.hear(feed.News{
			Snap:   snap,
			Events: []events.Event{{Seq: 1, TS: end, Type: kind, Subject: name, Message: why, Payload: []byte(output)}},
		})
		s.hear(feed.News{Pane: &terminal.News{Agent: s.m.Agents.SelectedKey, Screen: terminalWith(output),
			Text: widget.AllPlain(output)}})
		s.frame("start")
		for _, k := range keys {
			if len(keys) > 40 || k < ' ' {
				break
			}
			s.press(string(k))
			s.frame("after " + string(k))
		}
		for _, k := range []string{"d", "esc", "?", "esc", "*", "ctrl+k", "esc", "q", "esc", "0", "z", "pgup", "f", "2", "j", "d", "esc", "!", "!", "/", "x", "esc", "S", "x", "enter", "esc", "<", "esc", "s", "esc", "C", "esc", "1", "D", "esc", "c", "esc"} {
			s.press(k)
			s.frame(k)
		}
		for _, k := range []string{"0", "w", "right", "m", "/", "o", "enter", "n", "N", "z", "left", "F", "k", "l", "g", "esc", "ctrl+s", "esc", "esc", "esc", "w", "z"} {
			s.press(k)
			s.frame(k)
		}
		for _, k := range []string{"4", "j", "d", "esc", "t", "y", "esc", "!", "!", "/", "x", "esc", "b", "j", "enter", "esc", "n", "x", "enter", "x", "n", "esc"} {
			s.press(k)
			s.find(work, "")
			s.frame(k)
		}
		s.size(int(h), int(w))
		s.frame("turned")
	})
}

func crowd(n int) *city.Snapshot {
	snap := demoSnapshot(epoch)
	some := snap.Agents
	snap.Agents = nil
	for i := range n {
		a := some[i%len(some)]
		a.Name = fmt.Sprintf("agent-%04d", i)
		snap.Agents = append(snap.Agents, a)
	}
	return snap
}

func benchStage(b *testing.B, n int) *stage {
	s := newStage(b, Options{})
	s.size(200, 60)
	s.hear(feed.News{Snap: crowd(n), Events: demoEvents(epoch)})
	s.hear(feed.News{Pane: paneOf("builder", s.m.Watched.Session)})
	return s
}

// BenchmarkFrameCold measures a frame that cannot use cached lines.
func BenchmarkFrameCold(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := benchStage(b, n)
			for b.Loop() {
				s.now = s.now.Add(time.Second)
				next := *s.m.Snap
				next.Rev++
				s.m.Peek.Version++
				s.m.Events.Version++
				s.hear(feed.News{Snap: &next})
				view.Draw(s.m)
			}
		})
	}
}

// BenchmarkFrameCached measures a frame for which all lines are cached.
func BenchmarkFrameCached(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := benchStage(b, n)
			for b.Loop() {
				view.Draw(s.m)
			}
		})
	}
}

// BenchmarkFrameKey measures a frame after a key: all panels are redrawn from the same data.
func BenchmarkFrameKey(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := benchStage(b, n)
			keys := []any{tuitest.KeyPress("j"), tuitest.KeyPress("k")}
			for i := 0; b.Loop(); i++ {
				s.send(keys[i%2])
				view.Draw(s.m)
			}
		})
	}
}

func BenchmarkFrameDialog(b *testing.B) {
	s := benchStage(b, 200)
	s.press("q")
	for b.Loop() {
		view.Draw(s.m)
	}
}

// Lines that are cached for a second and lines that are drawn for each frame show the same time.
func TestAllTimesInAFrameAgree(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := demo(t, size[0], size[1])
		until := epoch.Add(5 * time.Minute)
		s.change(func(n *city.Snapshot) {
			n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State == city.Failed })
		})
		s.agent("scout", func(a *city.Agent) { a.Until = &until })
		s.press("3")
		for range 20 {
			s.wait(300 * time.Millisecond)
			all := regexp.MustCompile(`retries in (\w+)`).FindAllStringSubmatch(s.text(), -1)
			if len(all) < 2 {
				t.Fatalf("%v: the screen shows %v:\n%s", size, all, s.text())
			}
			for _, found := range all {
				if found[1] != all[0][1] {
					t.Fatalf("%v: the screen shows %v:\n%s", size, all, s.text())
				}
			}
		}
	}
}
