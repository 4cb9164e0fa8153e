package tui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/events"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// explorer performs random actions in a room, while the city changes at random.
type explorer struct {
	*stage
	*rand.Rand
	keys []string // the keys of all actions, and some typed characters
	log  []string // what was done, for the failure report
}

func newExplorer(t testing.TB, seed uint64) *explorer {
	x := &explorer{Rand: rand.New(rand.NewPCG(seed, 0)), keys: []string{"y", "n", "1", "9", "世", "é", "backspace", "\x00", "alt+x", "ctrl+w", "~"}}
	o := Options{Mode: state.Mode(x.IntN(3)), ASCII: x.IntN(4) == 0, OverSSH: x.IntN(4) == 0, NoColor: x.IntN(4) == 0, ReducedMotion: x.IntN(4) == 0, Config: textFile{"city.toml"}}
	x.stage = newStage(t, o)
	for i := range x.m.Keys.Actions {
		keys := x.m.Keys.Actions[i].Key.Keys()
		x.keys = append(x.keys, keys...)
		// these keys matter in every panel
		switch id := x.m.Keys.Actions[i].ID; {
		case id == "view.palette", id == "view.pane.place", strings.HasPrefix(id, "focus."):
			x.keys = append(x.keys, slices.Repeat(keys, 3)...)
		}
	}
	return x
}

func (x *explorer) text() string {
	texts := []string{"", "a", "worker", "shop/reviewer", "日本語エージェント", "e\u0301\u0301 combining", "👨‍👩‍👧‍👦🏳️‍🌈", "a\nb\x00\u202ec", "\x1b[31mred\x1b[2J",
		"\x1b]0;x\x07", "ไทยเด็ก", "मराठी क्षत्रिय", "عربى", "\u200b\u2060", "▶\ufe0f⚠\ufe0f", "\t\ttabs", "crashed 6× in 4m → …", "gc-214", `{"a":[1,{"b":null}]}`,
		strings.Repeat("very long and ", 60), strings.Repeat("長い", 300), strings.Repeat("x", 5000), "\xff\xfe bytes"}
	s := texts[x.IntN(len(texts))]
	if x.IntN(3) == 0 {
		s += texts[x.IntN(len(texts))]
	}
	return s
}

func (x *explorer) when() time.Time {
	far := []time.Duration{time.Second, time.Minute, time.Hour, 100 * time.Hour, 1 << 60}[x.IntN(5)]
	return x.now.Add(time.Duration(x.Int64N(int64(2*far))) - far)
}

func (x *explorer) perhaps() *time.Time {
	if x.IntN(3) == 0 {
		return nil
	}
	at := x.when()
	return &at
}

func (x *explorer) number() int {
	return []int{0, 1, 2, 5, 40, 12345, -3, 1 << 40}[x.IntN(8)]
}

func (x *explorer) city() {
	n := demoSnapshot(x.now)
	if x.m.Snap != nil {
		n.Rev, n.Started = x.m.Snap.Rev+1, x.m.Snap.Started
	}
	if x.IntN(4) > 0 {
		withPools(n)
	}
	if x.IntN(4) > 0 {
		withAutomations(n)
	}
	if x.IntN(2) == 0 {
		withWatchdogs(n)
		withRigs(n)
	}
	switch x.IntN(12) {
	case 0:
		n.Agents, n.Pools, n.Automations = nil, nil, nil
	case 1:
		n.Agents = crowd(500).Agents
	case 2:
		if x.IntN(10) == 0 {
			n.Agents = crowd(3000).Agents
		}
	}
	if x.IntN(2) == 0 {
		n.Name, n.Host, n.Config.Rejected, n.Degraded = x.text(), x.text(), x.text(), []string{x.text(), x.text()}
		n.Suspended, n.ShutDown = x.IntN(3) == 0, x.IntN(9) == 0
	}
	if x.IntN(4) == 0 {
		n.Stranded = []city.Stranded{{Agent: x.text(), Why: x.text(), Beads: []string{x.text()}, Count: x.number()}}
	}
	if x.IntN(4) == 0 {
		n.Config.Held = &city.Held{Revision: x.text(), Removes: []string{x.text(), x.text()}, Running: x.number(), Plan: []string{x.text()}}
	}
	for range x.IntN(8) {
		x.change1(n)
	}
	x.hear(feed.News{Snap: n})
}

func (x *explorer) change1(n *city.Snapshot) {
	if len(n.Agents) > 0 {
		a := &n.Agents[x.IntN(len(n.Agents))]
		a.Name, a.Reason, a.Until, a.PID, a.State = x.text(), x.text(), x.perhaps(), x.number(), city.States[x.IntN(len(city.States))]
		a.Since, a.Pool, a.Rig, a.Description, a.Restarts, a.Crashes = x.when(), x.text(), x.text(), x.text(), x.number(), x.number()
		a.Mail, n.Mail = x.number(), city.MailCount{Unread: x.number(), Total: x.number()}
		a.Usage, a.Next, a.Drift = &city.Usage{CPU: float64(x.number()), RSS: int64(x.number())}, &city.Next{What: x.text(), At: x.perhaps()}, []string{x.text()}
		if x.IntN(5) == 0 {
			a.State = city.State(x.text())
		}
	}
	if len(n.Pools) > 0 {
		p := &n.Pools[x.IntN(len(n.Pools))]
		p.Name, p.Reason, p.Size, p.Desired, p.Max, p.Check.Problem, p.Check.Output = x.text(), x.text(), x.number(), x.number(), x.number(), x.text(), x.text()
	}
	if len(n.Automations) > 0 {
		a := &n.Automations[x.IntN(len(n.Automations))]
		a.Name, a.Reason, a.When, a.Next, a.Since, a.Failures, a.Warnings = x.text(), x.text(), x.text(), x.perhaps(), x.perhaps(), x.number(), []string{x.text()}
		a.Last = &city.Run{ID: x.text(), Opened: x.when(), Ended: x.perhaps(), Outcome: x.text(), Output: x.text(), Error: x.text()}
	}
}

func (x *explorer) answer() {
	for _, e := range x.out {
		why := ""
		if x.IntN(3) == 0 {
			why = x.text()
		}
		switch e := e.(type) {
		case feed.SendCommands:
			r := feed.Result{ID: e.ID, Title: e.Title, Total: len(e.Commands)}
			for i := range e.Commands {
				if why == "" {
					r.Receipts = append(r.Receipts, x.text())
				} else {
					r.Failures, r.FailedIndexes = append(r.Failures, why), append(r.FailedIndexes, i)
				}
			}
			x.hear(feed.News{Results: []feed.Result{r}})
		case feed.QueryBeads:
			f := feed.FoundBeads{ID: e.ID, Problem: why, Beads: append(someWork(), someMail()...)}
			for range 2 {
				b := &f.Beads[x.IntN(len(f.Beads))]
				b.ID, b.Title, b.Assignee, b.Description, b.Labels = x.text(), x.text(), x.text(), x.text(), []string{city.PoolLabel + x.text()}
			}
			x.hear(feed.News{Found: []feed.FoundBeads{f}})
		case feed.RunTasks:
			r := feed.Result{ID: e.ID, Title: e.Title, Total: len(e.Tasks), FailuresOnly: e.FailuresOnly}
			for i := range e.Tasks {
				if why == "" {
					r.Receipts = append(r.Receipts, x.text())
				} else {
					r.Failures, r.FailedIndexes = append(r.Failures, why), append(r.FailedIndexes, i)
				}
			}
			x.hear(feed.News{Results: []feed.Result{r}})
		case feed.Inspect:
			about := scoutInspection()
			about.Prompt, about.PromptFile, about.PromptMode, about.Problems = x.text(), x.text(), x.text(), []string{x.text()}
			x.hear(feed.News{Inspected: []feed.Inspected{{ID: e.ID, Inspection: about, Problem: why}}})
		case feed.LoadHistory:
			x.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: e.ID, Events: demoEvents(x.now), Complete: x.IntN(2) == 0, Problem: why}}})
		case feed.Watch:
			p := terminal.News{Agent: e.Agent, Session: e.Session, Run: e.Run, Problem: why, Ended: x.IntN(3) == 0, LinesReceived: uint64(x.IntN(1000))}
			if e.Run == "" && x.IntN(4) > 0 {
				p.Screen = terminalWith(demoScreens()["builder"] + x.text())
			} else {
				p.Text = widget.AllPlain(x.text() + "\n" + x.text())
			}
			x.hear(feed.News{Pane: &p})
		}
	}
}

func (x *explorer) step(what byte) {
	did := ""
	switch what %= 32; {
	case what < 16:
		k := x.keys[x.IntN(len(x.keys))]
		did = fmt.Sprintf("key %q", k)
		x.press(k)
		x.answer()
	case what < 18:
		w, h := 1+x.IntN(300), 1+x.IntN(100)
		if x.IntN(2) == 0 {
			w, h = 1+x.IntN(90), 1+x.IntN(30)
		}
		did = fmt.Sprintf("size %dx%d", w, h)
		x.size(w, h)
	case what < 20:
		did = "city"
		x.city()
	case what < 22:
		did = "click"
		click := tea.MouseClickMsg{X: x.IntN(x.m.W), Y: x.IntN(x.m.H), Button: tea.MouseLeft}
		x.send(click)
		if x.IntN(2) == 0 {
			x.send(click)
		}
	case what < 24:
		did = "wheel"
		x.send(wheel{x.IntN(x.m.W), x.IntN(x.m.H), x.IntN(9) - 4})
	case what < 26:
		did = "paste"
		x.send(tea.PasteMsg{Content: x.text()})
	case what < 28:
		did = "time"
		x.wait([]time.Duration{time.Millisecond, time.Second, time.Minute, 24 * time.Hour}[x.IntN(4)])
	case what < 30:
		did = "events"
		x.hear(feed.News{Events: []events.Event{{Seq: x.Uint64(), TS: x.when(), Type: x.text(), Actor: x.text(), Subject: x.text(), Message: x.text(), Payload: []byte(x.text())}}})
	case what == 30:
		did = "edited"
		actions.EditedConfig(x.m, feed.Edited{Draft: &feed.Draft{}, Line: x.number(), Problems: []string{x.text()}[:x.IntN(2)], Plan: feed.Plan{Changes: []feed.Change{{Agent: x.text(), Pool: x.text(), Kind: x.text(), Why: x.text()}, {Agent: x.text(), Kind: []string{"stop", "fail", "drain", "restart", "start", "wait", "none"}[x.IntN(7)]}}, Notes: []string{x.text()}}})
	default:
		did = "gone"
		why := []string{"", x.text()}[x.IntN(2)]
		x.hear(feed.News{Unreachable: &why, Preferences: &feed.Preferences{Columns: panel.ColumnNames()[:x.IntN(len(panel.ColumnNames()))]}})
	}
	x.log = append(x.log, did)
	if n := len(x.log) - 30; n > 0 {
		x.log = x.log[n:]
	}
	x.frame("after " + strings.Join(x.log, ", "))
	x.focused()
}

// focused checks that the panel with the focus is visible and marked, unless a dialog covers it.
func (x *explorer) focused() {
	x.t.Helper()
	m := x.m
	if state.Covered(m) || m.Dialogs.Prompt() != nil || state.TierOf(m.W, m.H) == state.Tiny {
		return
	}
	if x.stage.activeTab() == "" {
		x.t.Fatalf("no panel has the focus after %s:\n%s", strings.Join(x.log, ", "), x.stage.text())
	}
}

// For any sequence of input, the frame is valid and shows which panel has the focus.
func FuzzRoom(f *testing.F) {
	if testing.Short() {
		f.Skip("draws many frames")
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		steps := make([]byte, 80)
		for i := range steps {
			steps[i] = byte(r.Uint32())
		}
		f.Add(seed, steps)
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		x := newExplorer(t, seed)
		x.size(1+x.IntN(200), 1+x.IntN(60))
		x.city()
		for _, what := range steps[:min(len(steps), 100)] {
			x.step(what)
		}
	})
}
