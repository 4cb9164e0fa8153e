package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
	"gcity/tui/view"
)

func watchingBuilder(t *testing.T, w, h int, output string) (*stage, terminal.Screen) {
	s := demo(t, w, h)
	s.choose("builder")
	p := &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith(output)}
	s.hear(feed.News{Pane: p})
	s.press("0")
	return s, p.Screen
}

func (s *stage) prints(screen terminal.Screen, text string) {
	_, _ = screen.Write([]byte(text)) // never fails
	n := s.m.Peek.News
	n.Screen = screen
	n.LinesReceived += uint64(strings.Count(text, "\n"))
	s.hear(feed.News{Pane: &n})
}

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %03d\r\n", i)
	}
	return b.String()
}

// If the terminal cannot be watched any more, the pane says that its picture is old, and why.
func TestPaneSaysThatItDoesNotFollow(t *testing.T) {
	s, screen := watchingBuilder(t, 120, 40, numbered(0, 5))
	s.shows("0 builder following")
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: screen, Problem: "no response\x1b[2J"}})
	s.shows("0 builder not following: no response", "line 004")
	s = automated(t, 120, 40)
	s.live("nightly", 60)
	n := s.m.Peek.News
	n.Problem = "no response"
	s.hear(feed.News{Pane: &n})
	s.shows("not following: no response", "step 60 of 90")
}

// A search never shows lines of one agent under the name of another.
func TestASearchEndsWithItsAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith(strings.Repeat("builder secret line\r\n", 60))}})
	s.press("0", "/", "s")
	s.shows("search: s")
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "builder" })
	})
	s.hides("search: s", "builder secret")
	s.hear(feed.News{Pane: &terminal.News{Agent: s.m.Agents.SelectedKey, Session: s.m.Agents.SelectedKey + "-1", Screen: terminalWith(strings.Repeat("another\r\n", 60))}})
	s.press("e", "esc")
	s.hides("builder secret")
	if s.m.Peek.Frozen() {
		t.Error("the pane is frozen")
	}
}

func TestSearchInThePane(t *testing.T) {
	s, screen := watchingBuilder(t, 120, 40, numbered(0, 100)+"a Needle here\r\n"+numbered(100, 150)+"no needle, a NEEDLE\r\n"+numbered(150, 200))
	s.press("/", "n", "e", "e")
	s.shows("/nee 3 of 3", "no needle, a NEEDLE", "frozen, G follows")
	s.press("d", "enter")
	s.prints(screen, numbered(200, 205))
	s.shows("/need 3 of 3", "+5 new")
	s.press("N", "N")
	s.shows("1 of 3", "a Needle here")
	s.hides("line 204")
	s.press("N")
	s.shows("3 of 3", "no needle")
	s.press("n")
	s.shows("1 of 3")
	s.press("esc")
	s.shows("a Needle here")
	s.hides("/need")
	s.press("esc")
	s.shows("following", "line 204")
	s.press("n")
	s.shows("no search is active; press / to search")
	s.press("/", "n", "e", "enter", "1")
	s.shows("builder /ne ")
	s.choose("idle")
	s.hear(feed.News{Pane: paneOf("idle", "idle-1")})
	s.shows("0 idle following")
	s.hides("/ne")
	s.choose("release-notes")
	s.press("0", "/")
	s.send(tuitest.KeyPress("y"))
	s.send(tuitest.KeyPress("q"))
	s.shows("the output of release-notes is still loading")
	if s.m.Dialogs.Top() != nil || len(s.out) > 0 {
		t.Errorf("keys typed after the rejected search opened %T, %v", s.m.Dialogs.Top(), s.out)
	}
	s.wait(time.Minute)
	s.press("1", "p")
	s.line("save the output", "enter")
	s.shows("the output of release-notes is not loaded; press 0 to show it")
}

func TestSearchIsSmartAboutCaseAndExpressions(t *testing.T) {
	for _, c := range []struct {
		text, in string
		want     int
	}{
		{"needle", "Needle needle NEEDLE", 3}, {"Needle", "Needle needle", 1}, {"n..dle$", "needle xneedle", 1}, {"a[", "xa[x", 1},
		{"x*", "aaa", 0}, {"", "aaa", 0}, {"世", "\x1b[31m世\x1b[m界世", 2}, {"(", "f(x)", 1},
	} {
		l := terminal.NewSearch(c.text)
		l.Find([]terminal.PaneLine{{Text: c.in}})
		if len(l.Hits) != c.want {
			t.Errorf("hits of %q in %q: got %d: %v", c.text, c.in, c.want, l.Hits)
		}
	}
	l := terminal.NewSearch("界")
	if l.Find([]terminal.PaneLine{{}, {Text: "\x1b[31m世界\x1b[m"}}); len(l.Hits) != 1 || l.Hits[0] != (terminal.Hit{Line: 1, From: 2, To: 4}) {
		t.Errorf("hits in columns: got %v", l.Hits)
	}
	l = terminal.NewSearch(".")
	if l.Find([]terminal.PaneLine{{Text: "é世e\u0301\U0001F44D\U0001F3FD"}}); len(l.Hits) != 4 || l.Hits[1] != (terminal.Hit{Line: 0, From: 1, To: 3}) || l.Hits[2] != (terminal.Hit{Line: 0, From: 3, To: 4}) {
		t.Errorf("whole characters: %v", l.Hits)
	}
}

// BenchmarkSearchInALongLine measures a search that matches everywhere.
func BenchmarkSearchInALongLine(b *testing.B) {
	line, l := strings.Repeat("é", terminal.MaxRunLine/2), terminal.NewSearch(".")
	for b.Loop() {
		l.In(line)
	}
}

// If there are too many matches, the newest ones are kept.
func TestSearchThatFindsTooMuch(t *testing.T) {
	lines := make([]terminal.PaneLine, 3*terminal.MaxHits)
	for i := range lines {
		lines[i].Text = "y y"
	}
	l := terminal.NewSearch("y")
	l.Find(lines)
	if n := len(l.Hits); n != terminal.MaxHits || l.Hits[n-1] != (terminal.Hit{Line: len(lines) - 1, From: 2, To: 3}) {
		t.Errorf("got %d matches, the last %v", n, l.Hits[n-1])
	}
}

// A canceled search leaves the pane as it was.
func TestSearchIsCanceled(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, numbered(0, 300))
	s.press("/", "0", "1", "0")
	s.shows("line 010", "1 of 1")
	s.press("x")
	s.shows("/010x not found", "line 299")
	s.press("esc")
	s.shows("following", "line 299")
	s.press("pgup", "pgup")
	pane := func() string {
		_, text, _ := strings.Cut(s.text(), "0 builder")
		return text
	}
	was := pane()
	s.press("/", "2", "9", "9", "esc")
	if got := pane(); got != was {
		t.Errorf("the position has changed:\n%s\n%s", was, got)
	}
	s.press("G", "/", "n", "o", "n", "e", "enter", "n")
	s.shows("not found: none", "following")
}

// A bookmark scrolls with the lines around it.
func TestMarkStaysWithItsLine(t *testing.T) {
	s, screen := watchingBuilder(t, 120, 40, numbered(0, 100))
	s.press("m")
	mark := s.m.Now.Format("marked 15:04:05")
	s.prints(screen, numbered(100, 103))
	behind := func() {
		t.Helper()
		if _, after, ok := strings.Cut(s.text(), mark); !ok || !strings.Contains(after, "line 100") || strings.Contains(after, "line 099") {
			t.Errorf("the mark is not below line 99:\n%s", s.text())
		}
	}
	behind()
	s.press("1")
	s.choose("chatty")
	s.hear(feed.News{Pane: &terminal.News{Agent: "chatty", Session: "chatty-1", Screen: terminalWith("hello")}})
	s.hides(mark)
	s.choose("builder")
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith(numbered(50, 106))}})
	behind()
	s.press("0", "k", "F")
	s.press("m")
	mark = s.m.Now.Format("marked 15:04:05")
	s.shows(mark)
	s.press("m")
	s.hides(mark)
}

func TestNoMarkInAFullScreenProgram(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, "\x1b[?1049h\x1b[Hfull")
	s.press("m")
	s.shows("cannot mark: a full-screen program has no lines")
}

// If gcity stopped the previous session, the rule above the new session says why gcity started a new one.
func TestTheRuleOfASessionThatFollowsAStop(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, numbered(0, 100))
	s.agent("builder", func(a *city.Agent) {
		a.Session = &city.Session{ID: "builder-2", Started: s.m.Now.In(time.FixedZone("", 5*3600))}
		a.Exit = &city.Exit{Code: 3, Uptime: 12 * time.Second, Earlier: true}
		a.Reason = "restarted by operator"
	})
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-2", Screen: terminalWith("I am new\r\n"), LinesReceived: 1}})
	s.shows("new session " + s.m.Now.Format("15:04:05") + "; restarted by operator")
	s.hides("previous one")
	s.agent("builder", func(a *city.Agent) { a.State, a.Running, a.Session = city.Suspended, false, nil })
	s.hides("exit 3 after 12s ━")
	s.agent("builder", func(a *city.Agent) { a.Exit = &city.Exit{Code: 4, Uptime: 13 * time.Second} })
	s.shows("exit 4 after 13s ━")
}

// The output of a new session starts below a rule. A frozen pane stays frozen.
func TestNewSession(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, numbered(0, 100))
	second := func() {
		s.agent("builder", func(a *city.Agent) {
			a.Session = &city.Session{ID: "builder-2", Started: s.m.Now}
			a.Exit = &city.Exit{Code: 1, Uptime: 3 * time.Second}
		})
		s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-2", Screen: terminalWith("I am new\r\n"), LinesReceived: 1}})
	}
	second()
	s.shows("new session "+s.m.Now.Format("15:04:05")+"; previous one: exit 1 after 3s", "line 099", "I am new", "following")
	s.press("g")
	s.shows("line 000")
	s.hides("I am new")

	s, _ = watchingBuilder(t, 120, 40, numbered(0, 100))
	s.press("g")
	second()
	s.shows("line 000", "+1 new")
	s.press("G")
	s.shows("I am new", "new session")
}

func TestWrappedLinesAreSeenToTheEnd(t *testing.T) {
	long := strings.Repeat("0123456789", 11) + " END"
	s, screen := watchingBuilder(t, 80, 24, strings.Repeat(long+"\r\n", 40)+"the last")
	s.hides("END")
	s.press("w")
	s.shows("END", "wrapped", "the last")
	s.press("k")
	s.hides("the last")
	s.prints(screen, "\r\nmore")
	s.shows("+1 new")
	s.press("j")
	s.shows("following", "the last", "more")
	s.press("g", "j")
	first := strings.Split(s.text(), "\n")
	for i, l := range first {
		if strings.Contains(l, "0 builder") && !strings.HasSuffix(first[i+1], " END") {
			t.Errorf("one row down does not show the rest of the first line:\n%s", s.text())
		}
	}
	s.press("w", "right", "right")
	s.shows("END", "from column")
	s.press("left", "left")
	s.hides("from column")
}

func TestFollowAndFreezeByKey(t *testing.T) {
	s, screen := watchingBuilder(t, 120, 40, numbered(0, 3))
	s.press("F")
	s.prints(screen, numbered(3, 6))
	s.shows("+3 new")
	s.hides("line 005")
	s.press("F")
	s.shows("line 005", "following")
}

// fullScreen paints every row of a 120x40 screen.
func fullScreen() string {
	var b strings.Builder
	b.WriteString("\x1b[?1049h")
	for y := 1; y <= 40; y++ {
		if y%5 != 0 && y != 39 {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1Hrow %02d\x1b[%d;110Hedge %02d", y, y, y, y)
	}
	b.WriteString("\x1b[39;7H")
	return b.String()
}

// If a program is larger than the pane, the part with the cursor is visible.
func TestFullScreenProgramInASmallPane(t *testing.T) {
	s, screen := watchingBuilder(t, 80, 24, fullScreen())
	s.shows("row 39")
	s.hides("edge", "row 05", "row 40")
	s.press("g")
	s.shows("row 05", "following  from row 1")
	s.hides("row 39")
	s.prints(screen, "\x1b[5;1Hnow 05\x1b[39;7H")
	s.shows("now 05")
	s.press("right", "right", "right")
	s.shows("edge 05", "from row 1")
	s.press("esc", "esc")
	s.shows("row 39")
	s.hides("edge")
	s.press("z")
	s.shows("fit", "now 05", "row 39", "edge 39", "edge 40")
	if line := view.Draw(s.m).Lines; !strings.Contains(strings.Join(line, "\n"), terminal.Inverse) {
		t.Error("the cursor is not visible")
	}
}

// A full-screen program on the main screen is shown from its first row, and the view can be scrolled.
func TestProgramThatDrawsOnTheUsualScreen(t *testing.T) {
	var b strings.Builder
	b.WriteString("$ top\r\n\x1b[H\x1b[J")
	for y := 1; y <= 40; y++ {
		fmt.Fprintf(&b, "\x1b[%d;1Hrow %02d", y, y)
	}
	b.WriteString("\x1b[6;1H")
	s, screen := watchingBuilder(t, 80, 24, b.String())
	s.shows("row 01", "row 09")
	s.hides("row 40")
	s.press("pgdown", "pgdown", "pgdown", "pgdown")
	s.shows("row 40", "from row")
	s.press("m")
	s.shows("a full-screen program has no lines")
	s.press("esc", "esc")
	s.shows("row 01")
	hidden, _ := watchingBuilder(t, 80, 24, strings.TrimRight("\x1b[?25l\x1b[H\x1b[2J"+numbered(1, 41), "\r\n"))
	hidden.shows("line 001")
	hidden.hides("line 040")
	s.prints(screen, "\x1b[H\x1b[2J"+numbered(1, 60))
	s.shows("line 059")
	s.hides("line 030")
}

func TestTheCursorIsSeenOnAWideCharacter(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, "\x1b[?1049h\x1b[H世界\x1b[1;2H")
	if all := strings.Join(view.Draw(s.m).Lines, "\n"); !strings.Contains(all, terminal.Inverse+"世") {
		t.Error("the cursor is not visible")
	}
}

func TestWideCharactersAtTheBorder(t *testing.T) {
	for w := 77; w < 84; w++ {
		s, _ := watchingBuilder(t, w, 24, strings.Repeat("世界", 30)+"\r\n"+"x"+strings.Repeat("👨‍👩‍👧", 59)+"\r\na\tb\x1b[7mrev\x1b[2mfaint\x1b[38;5;208m256\x1b[48;2;1;2;3mtrue")
		for _, k := range []string{"w", "w", "right", "z", "left", "z"} {
			s.press(k)
			s.frame(fmt.Sprint(k, " at ", w))
		}
		all := strings.Join(view.Draw(s.m).Lines, "\n")
		for _, want := range []string{"\x1b[7mrev", "faint", "38;5;208", "48;2;1;2;3", "a       b"} {
			if !strings.Contains(all, want) {
				t.Errorf("want %q at %d", want, w)
			}
		}
	}
}

// The logs view shows all stored output on the whole screen.
func TestLogs(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, numbered(0, 100))
	s.press("1", "l")
	w, ok := effectOf[feed.Watch](s)
	if !ok || !w.AllOutput || w.Agent != "builder" || w.Session != "builder-1" {
		t.Errorf("watching %+v", w)
	}
	s.shows("0 builder logs  following")
	s.hides("1 Agents")
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith(numbered(0, 300)), HistoryLimit: terminal.LogLines}})
	s.press("/", "0", "0", "7", "enter")
	s.shows("line 007", "1 of 1")
	s.press("esc", "esc", "esc")
	s.shows("1 Agents")
	if w, ok := effectOf[feed.Watch](s); !ok || w.AllOutput {
		t.Errorf("it still requests all output: %+v", w)
	}
	s.press("l", "l")
	s.hides("logs")
}

// In Events, the terminal and the logs are those of the agent that the selected event is about.
func TestTerminalOfAnEvent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("5")
	for s.m.Events.Selected().Subject != "chatty" {
		s.press("k")
	}
	s.press("a")
	if a, ok := effectOf[feed.Attach](s); !ok || a.Agent != "chatty" {
		t.Errorf("attached to %+v", a)
	}
	s.press("l")
	if r := state.Selected(s.m); r == nil || r.Name != "chatty" || !s.m.Peek.Logs {
		t.Errorf("the logs are those of %+v", r)
	}
	s.press("l", "g", "l")
	if s.m.Peek.Logs {
		t.Error("an event without an agent has logs")
	}
	s.shows("the event under the cursor does not belong to")
}

// For an event that the selected agent caused, l shows the logs of the agent that the event is about.
func TestLogsOfAnEventThatTheSelectedAgentCaused(t *testing.T) {
	s := demo(t, 120, 40)
	s.hear(feed.News{Events: []events.Event{{Seq: 900, TS: s.now, Type: events.AgentDraining, Actor: "chatty", Subject: "builder"}}})
	s.choose("chatty")
	s.m.Events.Only = true
	state.RefilterEvents(s.m)
	s.press("5")
	if r := s.m.Events.Selected(); r == nil || r.Event.Seq != 900 {
		t.Fatalf("the cursor is on %+v", r)
	}
	s.press("l")
	if r := state.Selected(s.m); r == nil || r.Name != "builder" || !s.m.Peek.Logs {
		t.Errorf("the logs are those of %+v", r)
	}
	s.press("l")
	if s.m.Focus != panel.IDEvents || s.m.Agents.SelectedKey != "chatty" {
		t.Errorf("afterwards %s has the focus and %s is selected", s.m.Focus, s.m.Agents.SelectedKey)
	}
}

func TestSaveAsksForTheFile(t *testing.T) {
	s, _ := watchingBuilder(t, 120, 40, "\x1b[31mred\x1b[m  \r\n世界\r\n")
	s.press("ctrl+s")
	s.shows("save 3 lines to: builder-20261121-1042")
	s.press("ctrl+u", "enter")
	s.shows("enter a file name")
	s.press("x", "enter")
	e, ok := effectOf[feed.Save](s)
	if !ok || e.Path != "x" || e.Text != "red\n世界\n\n" || e.ID != s.m.Status.ID {
		t.Errorf("%+v", e)
	}
	s.press("|")
	if p, ok := effectOf[feed.ShowText](s); !ok || p.Text != "\x1b[31mred\x1b[m\n世界\n\n" {
		t.Errorf("%+v", p)
	}
}

// A search without a match says so, also while the pane follows, until the next search.
func TestSearchWithoutAMatch(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
	s.press("0", "/")
	s.typeIn("zzzz")
	s.press("enter")
	s.shows("following", "✗ not found: zzzz")
	s.press("/", "q")
	s.hides("not found: zzzz")
}
