package tui

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

func (s *stage) live(name string, lines int) {
	s.t.Helper()
	s.automation(name, func(a *city.Automation) {
		began := s.now.Add(-14 * time.Second)
		a.State, a.Reason, a.Since, a.Next = city.AutomationRunning, "", &began, nil
		a.Last = &city.Run{ID: "gc-230", Automation: name, Reason: "by hand", By: "operator", Opened: began}
	})
	s.point(name)
	s.printed("gc-230", lines)
}

func (s *stage) printed(run string, lines int) {
	n := terminal.News{Run: run, LinesReceived: uint64(lines)}
	for i := range lines {
		n.Text = append(n.Text, widget.Plain(fmt.Sprintf("step %d of 90\x1b[2J", i+1)))
	}
	s.hear(feed.News{Pane: &n})
}

// The pane shows the output of the automation under the cursor as it arrives.
func TestThePaneOfARunIsAboutItsAutomation(t *testing.T) {
	s := automated(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Rigs = []city.Rig{{Name: "shop", Path: "/x"}, {Name: "other", Path: "/y", Suspended: true}}
		for i := range n.Agents {
			n.Agents[i].Rig = "other"
		}
	})
	s.automation("db-health", func(a *city.Automation) { a.Rig = "shop" })
	s.point("db-health")
	s.press("0", "y")
	s.shows("Copy from db-health", "gate state")
	s.press("esc", "x")
	s.shows("Actions for db-health", "automation now")
	s.press("esc")
	s.out = perform(s.m, actionOf(s.m, "rig.suspend"))
	s.shows("Suspend rig shop?")
	s.press("esc")
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.automation("db-health", func(a *city.Automation) { a.Rig = "" })
	s.press("?")
	s.typeIn("agent's rig")
	s.shows("db-health belongs to no rig")
}

func TestPaneFollowsARun(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 36}, {80, 24}} {
		s := automated(t, size[0], size[1])
		s.live("nightly", 60)
		if w := s.m.Watched; w != (feed.Watch{Run: "gc-230", Running: true, Focused: true}) {
			t.Errorf("%v: watching %+v", size, w)
		}
		s.shows("─ 0 nightly · running 1", "run gc-230", " step 60 of 90")
		s.hides("step 1 of 90", "[2J")
		s.printed("gc-230", 61)
		s.shows("step 61 of 90")
		s.press("0", "k", "k")
		s.shows("frozen, G follows")
		s.printed("gc-230", 64)
		s.shows("+3 new, G follows")
		s.hides("step 62 of 90")
		s.press("G")
		s.shows("step 64 of 90")
		s.automation("nightly", func(a *city.Automation) {
			end, ended := s.now, *a.Last
			ended.Ended, ended.Outcome, ended.Output = &end, "ok", "step 64 of 90\n"
			a.State, a.Reason, a.Last = city.AutomationIdle, "cron: next 2026-11-22 03:30", &ended
		})
		s.shows(" 0 nightly · ok 0s ago", "step 63 of 90") // output that has been received stays
		if w := s.m.Watched; w != (feed.Watch{Run: "gc-230", Focused: true}) {
			t.Errorf("%v: watched after the run ended: got %+v", size, w)
		}
		s.press("1")
		if w := s.m.Watched; w.Run != "" || w.Agent == "" {
			t.Errorf("%v: watched in Agents: got %+v", size, w)
		}
		s.hides("step 64 of 90", "nightly · ok 0s ago")
	}
}

// Until output arrives, the pane shows the output that is in the run's record.
func TestPaneOfARunThatHasEnded(t *testing.T) {
	s := automated(t, 120, 40)
	s.point("db-health")
	s.shows("─ 0 db-health · ok 2m ago (1.2s)", "12 tables, 0 broken", "all is well")
	s.point("digest")
	s.shows("Nothing printed yet.")
	s.hear(feed.News{Pane: &terminal.News{Run: "gc-215", Problem: "the line is cut"}})
	s.shows("Nothing to show: the line is cut")
	s.point("nightly")
	s.shows("The run printed nothing.")
	s.hides("the line is cut")
	s.point("release")
	s.shows("─ 0 release · never run", "release has never run. The output of its latest run will appear here.")
	if s.m.Watched != (feed.Watch{}) {
		t.Errorf("watching %+v", s.m.Watched)
	}
	s.point("wisp-compact")
	s.shows("wisp-compact is broken:", "formulas/automations/wisp-compact/automation.toml:4:1")
}

func TestHiddenRunsAreNotWatched(t *testing.T) {
	s := automated(t, 120, 40)
	s.live("nightly", 3)
	s.press("p")
	if s.m.Watched != (feed.Watch{}) {
		t.Errorf("watched with a hidden pane: got %+v", s.m.Watched)
	}
	s.press("enter")
	if s.m.Watched.Run != "gc-230" {
		t.Errorf("watched in the details: got %+v", s.m.Watched)
	}
	s.press("esc", "p", "0", "f", "f")
	if s.m.Watched.Run != "gc-230" {
		t.Errorf("watched after zooming: got %+v", s.m.Watched)
	}
	s.change(func(n *city.Snapshot) { n.Automations = nil })
	if s.m.Watched.Run != "" || s.m.Watched.Agent == "" {
		t.Errorf("watched without automations: got %+v", s.m.Watched)
	}
}

// If no agent is visible, agent verbs are refused.
func TestVerbsAmongRuns(t *testing.T) {
	s := automated(t, 120, 40)
	s.choose("idle")
	s.live("nightly", 3)
	for _, at := range []string{"4", "0"} {
		for _, key := range []string{"r", "ctrl+k", "i", "a", "D"} {
			s.press(at, key)
			s.wants()
			s.shows(actions.WhyNotHere(s.m)[:40])
			s.closeNotice()
			if _, ok := effectOf[feed.Attach](s); ok || s.m.Dialogs.Prompt() != nil ||
				s.m.Dialogs.Choice() != nil {
				t.Errorf("%s after %s acted on an agent", key, at)
			}
		}
	}
	s.press("0", "d")
	s.shows("━ automation nightly ━")
}

// The details follow a run's output until the user scrolls.
func TestDetailsFollowARun(t *testing.T) {
	s := automated(t, 80, 24)
	s.live("nightly", 60)
	s.press("enter")
	s.find(someWork(), "")
	s.shows("automation nightly", "step 60 of 90")
	s.hides("make -s nightly", "step 61 of 90")
	s.printed("gc-230", 70)
	s.shows("step 70 of 90")
	s.press("g")
	s.shows("make -s nightly")
	s.printed("gc-230", 80)
	s.shows("make -s nightly")
	s.press("esc", "enter")
	s.shows("step 80 of 90")
}

func TestRunOutput(t *testing.T) {
	long := strings.Repeat("世", terminal.MaxRunLine)
	for _, c := range []struct {
		name   string
		pieces []city.Piece
		want   []string
		fed    uint64
	}{
		{"nothing", []city.Piece{{}}, nil, 0},
		{"lines", []city.Piece{{Text: "a\n\nb"}, {Text: "c\nd\n"}, {Text: "\ne"}}, []string{"a", "", "bc", "d", "", "e"}, 6},
		{"a gap", []city.Piece{{Text: "a"}, {Dropped: 7, Text: "\nb\n"}}, []string{"a", "[7 bytes omitted]", "b"}, 3},
		{"late", []city.Piece{{Dropped: 7, Text: "b"}, {Text: "c"}}, []string{"[7 bytes omitted]", "bc"}, 2},
	} {
		var p terminal.RunOutput
		for _, piece := range c.pieces {
			p.Add(piece)
		}
		if fmt.Sprintf("%q", p.Lines) != fmt.Sprintf("%q", c.want) || p.LinesReceived != c.fed {
			t.Errorf("%s: %q, %d received", c.name, p.Lines, p.LinesReceived)
		}
	}
	var p terminal.RunOutput
	for range 50 {
		p.Add(city.Piece{Text: long})
	}
	if strings.Join(p.Lines, "") != strings.Repeat(long, 50) {
		t.Error("part of a long line is lost")
	}
	for _, line := range p.Lines {
		if len(line) > 2*terminal.MaxRunLine {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	for i := range 5 * terminal.MaxRunLines {
		p.Add(city.Piece{Text: fmt.Sprintln(i)})
	}
	if n := len(p.Lines); n < terminal.MaxRunLines || n > 2*terminal.MaxRunLines || p.Lines[n-1] != fmt.Sprint(5*terminal.MaxRunLines-1) {
		t.Errorf("got %d lines, the last %q", n, p.Lines[n-1])
	}
}

// Output with invalid UTF-8 is split into lines like any other output.
func TestRunOutputIsSafe(t *testing.T) {
	var p terminal.RunOutput
	p.Add(city.Piece{Text: "one\x1b[2J\ntw"})
	first := p.Plain()
	p.Add(city.Piece{Text: "o\nthree"})
	if got := p.Plain(); !slices.Equal(got, []string{"one", "two", "three"}) || first[1] != "tw" {
		t.Errorf("%q, and before %q", got, first)
	}
	p.Add(city.Piece{Text: strings.Repeat("\x80", 3*terminal.MaxRunLine)})
	for range 2 * terminal.MaxRunLines {
		p.Add(city.Piece{Text: "last\n"})
	}
	if got := p.Plain(); len(got) != len(p.Lines) || got[len(got)-1] != "last" {
		t.Errorf("%d of %d lines, the last %q", len(got), len(p.Lines), got[len(got)-1])
	}
}

// The room stores cleaned output unchanged.
func TestRunOutputIsTakenAsItIs(t *testing.T) {
	s := demo(t, 200, 60)
	text := []string{strings.Repeat("é", terminal.MaxRunLine/2)}
	for range terminal.MaxRunLines {
		text = append(text, text[0])
	}
	next := uint64(0)
	if n := testing.AllocsPerRun(5, func() {
		next++
		s.m.Peek.Apply(terminal.News{Run: "gc-215", Text: text, LinesReceived: next}, "")
	}); n > 10 {
		t.Errorf("got %v allocations for a piece of output", n)
	}
}

// runsOf is a city whose runs print the output of a script.
type runsOf struct {
	*fakeCity
	script func(ctx context.Context, run string, yield func(city.Piece, error) bool)
}

func (r *runsOf) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) { r.script(ctx, run, yield) }
}

// A stream that breaks while its run is in progress is reopened. A stream that has ended is not.
func TestViewerGetsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := []string{}
		c := &runsOf{newFakeCity(epoch), func(ctx context.Context, run string, yield func(city.Piece, error) bool) {
			opened = append(opened, run)
			switch yield(city.Piece{Text: "I am " + run + "\n"}, nil); {
			case run == "a" && len(opened) < 3:
				yield(city.Piece{}, &city.Error{Code: city.Unavailable, Message: "cut"})
			case run == "a":
				yield(city.Piece{Text: "again"}, nil)
				<-ctx.Done()
			}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		b := feed.NewMailbox()
		r := &feed.Runner{Ctx: ctx, City: c, Mailbox: b, Log: slog.New(slog.DiscardHandler), Viewer: feed.NewViewer(c, b, terminal.NewScreen), Fail: cancel}
		r.Spawn("pane", r.Viewer.Run)
		r.Viewer.Show(feed.Watch{Run: "a", Running: true})
		time.Sleep(feed.SettleDelay + time.Millisecond) // fake time
		if p := seen(t, b); p.Run != "a" || p.Problem != "cut" || strings.Join(p.Text, "|") != "I am a" || p.Ended {
			t.Errorf("seen %+v", p)
		}
		time.Sleep(time.Minute)
		if p := seen(t, b); p.Problem != "" || strings.Join(p.Text, "|") != "I am a|again" || p.Ended {
			t.Errorf("seen %+v", p)
		}
		r.Viewer.Show(feed.Watch{Run: "b", Running: true})
		time.Sleep(time.Hour)
		if p := seen(t, b); p.Run != "b" || !p.Ended || strings.Join(p.Text, "|") != "I am b" {
			t.Errorf("seen %+v", p)
		}
		r.Viewer.Show(feed.Watch{})
		time.Sleep(time.Minute)
		if got := fmt.Sprint(opened); got != "[a a a b]" {
			t.Errorf("opened %s", got)
		}
		cancel()
		r.Wait()
	})
}

func TestVerbsFromTheRunsPane(t *testing.T) {
	s := automated(t, 120, 40)
	s.point("release")
	s.press("0")
	s.line("automation.fire", "enter")
	s.wants(city.Fire{Automation: "release", By: "operator"})
}

// In Automations, l shows the output of the automation, not that of the selected agent.
func TestLogsOfAnAutomation(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("4", "l")
	s.shows("0 " + s.m.Automations.Current().Shown)
	s.hides("logs  following", "1 Agents")
	s.press("esc")
	s.shows("━ 4 Automations")
}

// The output of a run cannot be marked, and the footer does not offer it.
func TestTheOutputOfARunIsNotMarked(t *testing.T) {
	s := automated(t, 120, 36)
	s.live("nightly", 60)
	s.press("0")
	s.hides("m mark")
	s.press("m")
	s.shows("the output of an automation cannot be marked")
}
