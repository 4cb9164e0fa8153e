package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/view"
)

var update = flag.Bool("update", false, "write the drawn screens to testdata and docs/keys.md")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (run go test ./tui -update to accept the new screen):\n%s", path, diff)
	}
}

// scenes returns the scenes by name. Each function brings a stage into the state of its scene.
func scenes() map[string]func(s *stage) {
	return map[string]func(s *stage){
		"start": func(*stage) {},
		"peek": func(s *stage) {
			s.choose("builder")
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
		},
		"zoom": func(s *stage) {
			s.choose("builder")
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
			s.press("enter")
		},
		"looked-up": func(s *stage) {
			s.choose("builder")
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
			s.press("0", "m", "/", "m", "o", "d", "u", "l", "e", "4", "enter", "N")
		},
		"logs": func(s *stage) {
			s.choose("builder")
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
			s.press("l", "w")
		},
		"quarantine": func(s *stage) { s.press("3") },
		"words": func(s *stage) {
			s.choose("scout")
			s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Ended: true, Text: []string{"scout: looking for a map", "scout: no map, giving up"}}})
		},
		"crash":      func(s *stage) { s.choose("scout"); s.press("d") },
		"events":     func(s *stage) { s.press("5", "k", "k") },
		"filter":     func(s *stage) { s.press("/", "s", "h", "o", "p") },
		"attention":  func(s *stage) { s.press("!") },
		"marks":      func(s *stage) { s.press("space", "space", "space") },
		"help":       func(s *stage) { s.press("?") },
		"search":     func(s *stage) { s.press("?", "s", "u", "s", "p") },
		"details":    func(s *stage) { s.choose("builder"); s.press("d") },
		"event":      func(s *stage) { s.press("5", "k", "k", "k", "enter") },
		"quit":       func(s *stage) { s.press("q") },
		"restart":    func(s *stage) { s.choose("builder"); s.press("r") },
		"end":        func(s *stage) { s.choose("idle"); s.press("ctrl+k", "i", "d") },
		"send":       func(s *stage) { s.choose("idle"); s.press("i", "h", "i") },
		"send-lines": func(s *stage) { s.choose("builder"); s.press("i"); s.send(tea.PasteMsg{Content: aText}) },
		"send-many": func(s *stage) {
			s.choose("builder")
			s.press("space", "space", "space", "i")
			s.typeIn("stop after this one")
		},
		"send-asks":  func(s *stage) { markRunning(s); s.press("i"); s.typeIn("stop after this one"); s.press("enter") },
		"send-waits": func(s *stage) { s.agent("builder", withTexts); s.choose("builder") },
		"send-texts": func(s *stage) { s.agent("builder", withTexts); s.choose("builder"); s.press("d") },
		"unsend":     func(s *stage) { s.agent("builder", withTexts); s.choose("builder"); s.press("U") },
		"failed": func(s *stage) {
			s.press("u")
			id := s.m.Status.ID
			s.hear(feed.News{Results: []feed.Result{{ID: id, Title: "releasing", Total: 1, Failures: []string{"prober is not held back: it fails by itself"}}}})
		},
		"sick": func(s *stage) {
			s.change(func(n *city.Snapshot) {
				n.Config.Rejected = `city.toml:12:3: unknown key "comand"; did you mean "command"?`
				n.Degraded = []string{"the event log cannot be written: no space left on device"}
			})
		},
		"city": func(s *stage) {
			s.change(func(n *city.Snapshot) {
				n.Config.Rejected = `city.toml:12:3: unknown key "comand"; did you mean "command"?`
				n.Degraded = []string{"the event log cannot be written: no space left on device"}
			})
			s.press("c")
		},
		"stranded": func(s *stage) {
			s.change(func(n *city.Snapshot) {
				n.Stranded = []city.Stranded{
					{Agent: "builder", Why: "is quarantined", Beads: []string{"gc-12", "gc-15", "gc-16"}, Count: 5},
					{Agent: "worker-9", Why: "is no longer a member of pool worker", Gone: true, Beads: []string{"gc-31"}, Count: 1},
				}
			})
			s.press("c")
		},
		"pools":        func(s *stage) { s.change(withPools); s.press("2") },
		"pool-details": func(s *stage) { s.change(withPools); s.pick("worker"); s.press("d") },
		"pool-failing": func(s *stage) { s.change(withPools); s.pick("triage"); s.press("d") },
		"pool-members": func(s *stage) { s.change(withPools); s.pick("worker"); s.press("enter") },
		"drain": func(s *stage) {
			s.change(withPools)
			s.choose("worker-1")
			s.press("D")
		},
		"pool-drain":         func(s *stage) { s.change(withPools); s.pick("worker"); s.press("D") },
		"pool-drain-member":  func(s *stage) { s.change(withPools); s.pick("worker"); s.press("D", "m", "2") },
		"suspend":            func(s *stage) { s.change(withPools); s.choose("worker-1"); s.press("s") },
		"scale":              func(s *stage) { s.change(withPools); s.pick("worker"); s.press("S", "4") },
		"scale-refused":      func(s *stage) { s.change(withPools); s.pick("worker"); s.press("S", "9", "enter") },
		"scale-asks":         func(s *stage) { s.change(withPools); s.pick("worker"); s.press("<") },
		"held":               func(s *stage) { s.change(held("builder", "chatty", "idle")); s.press("C") },
		"held-many":          func(s *stage) { s.change(held("a", "b", "c", "d", "e")); s.press("C", "5") },
		"waiting":            func(s *stage) { s.change(withPools); s.choose("zeta"); s.press("d") },
		"member":             func(s *stage) { s.change(withPools); s.choose("worker-3"); s.press("d") },
		"pool-attention":     func(s *stage) { s.change(withPools); s.press("2", "!") },
		"pool-none":          func(s *stage) { s.press("2") },
		"automations":        func(s *stage) { withAll(s); s.press("4") },
		"automation-details": func(s *stage) { withAll(s); s.point("db-health"); s.press("d"); s.find(someWork(), "") },
		"automation-failing": func(s *stage) {
			withAll(s)
			s.point("prune-branches")
			s.press("enter")
			s.find(nil, "the bead store did not respond")
		},
		"automation-live":         func(s *stage) { withAll(s); s.live("nightly", 60) },
		"automation-live-details": func(s *stage) { withAll(s); s.live("nightly", 60); s.press("enter"); s.find(someWork(), "") },
		"automation-attention":    func(s *stage) { withAll(s); s.press("4", "!") },
		"automation-none":         func(s *stage) { s.press("4") },
		"automation-events":       func(s *stage) { withAll(s); s.hear(feed.News{Events: automationEvents()}); s.press("5") },
		"fire":                    func(s *stage) { withAll(s); s.point("db-health"); s.press("t") },
		"work":                    func(s *stage) { withAll(s); s.press("8"); s.find(todaysWork(), ""); s.press("j") },
		"work-none":               func(s *stage) { s.press("b"); s.find(nil, "") },
		"work-add":                func(s *stage) { withAll(s); s.press("b"); s.find(someWork(), ""); s.press("n", "h", "i") },
		"verbs":                   func(s *stage) { s.choose("scout"); s.press("x") },
		"copy":                    func(s *stage) { s.choose("builder"); s.press("y") },
		"palette":                 func(s *stage) { s.change(withPools); s.line("restart wo") },
		"palette-words":           func(s *stage) { s.change(withPools); s.line("worker-2") },
		"sorted":                  func(s *stage) { s.press("o", "o", "o", "O") },
		"undo": func(s *stage) {
			s.choose("builder")
			s.press("s", "y")
			s.done("agent builder is suspended in city.toml")
		},
		"depart":   func(s *stage) { s.change(few); s.press("q", "d", "y"); s.ended("idle") },
		"messages": func(s *stage) { bulk(s); s.press("esc", ":"); s.typeIn("messages"); s.press("enter") },
		"bulk":     bulk,
		"dossier": func(s *stage) {
			s.choose("scout")
			s.press("d")
			s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
			view.Draw(s.m) // computes the length of the details
			s.press("pgdown", "pgdown")
		},
		"told": func(s *stage) {
			s.choose("builder")
			s.press("d")
			s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: builderInspection()}}})
			s.press("p")
		},
		"told-short": func(s *stage) {
			s.choose("builder")
			s.press("d")
			s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: builderInspection()}}})
			view.Draw(s.m)
			s.press("G")
		},
		"crashes": func(s *stage) {
			s.press("3", "enter")
			s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
		},
		"events-only": func(s *stage) {
			s.press("5")
			for s.m.Events.Selected().Subject != "scout" {
				s.press("k")
			}
			s.press(",", "G")
		},
		"mail":        func(s *stage) { withAll(s); withMail(s); s.press("L"); s.find(someMail(), ""); s.press("j") },
		"mail-none":   func(s *stage) { s.press("L"); s.find(nil, "") },
		"mail-others": func(s *stage) { withAll(s); withMail(s); s.press("L"); s.find(someMail(), ""); s.press("t") },
		"mail-read":   func(s *stage) { withAll(s); withMail(s); s.press("L"); s.find(someMail(), ""); s.press("enter") },
		"mail-reply": func(s *stage) {
			withAll(s)
			withMail(s)
			s.press("L")
			s.find(someMail(), "")
			s.press("r")
			s.typeIn("Yes, from four on.")
			s.press("alt+enter")
			s.typeIn("Blue is out.")
		},
		"mail-subject": func(s *stage) { s.choose("builder"); s.press("W"); s.typeIn("the blue paint") },
		"mail-badge":   func(s *stage) { withAll(s); withMail(s); s.choose("builder"); s.press("d") },
		"sling":        func(s *stage) { withAll(s); s.choose("builder"); s.press("B"); s.find(openWork(), "") },
		"sling-whom":   func(s *stage) { withAll(s); s.press("b"); s.find(someWork(), ""); s.press("s") },
		"edited": func(s *stage) {
			actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{}, Plan: editPlan()})
		},
		"edited-all": func(s *stage) {
			actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{}, Plan: editPlan()})
			s.press("d")
		},
		"mistaken": func(s *stage) {
			actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{}, Line: 12, Problems: []string{`city.toml:12:3: agents.comand: unknown key; did you mean "command"?`}})
		},
		"empty": func(s *stage) {
			s.change(func(n *city.Snapshot) { n.Agents = nil })
		},
	}
}

func editPlan() feed.Plan {
	p := feed.Plan{Changes: []feed.Change{
		{Agent: "builder", Kind: "restart", Why: "command changed, env PATH_HINT changed"}, {Agent: "chatty", Kind: "none", Why: "runs as configured"},
		{Agent: "herald", Kind: "start", Why: "not running"}, {Agent: "idle", Kind: "stop", Why: "not in the configuration"},
		{Agent: "scout", Kind: "wait", Why: "quarantined: crashed 6× in 4m, until 11:38"},
	}, Notes: []string{"formulas/automations/prune/automation.toml:4:1: both formula and exec"}}
	for i := range 4 {
		p.Changes = append(p.Changes, feed.Change{Agent: fmt.Sprint("worker-", i+1), Pool: "worker", Kind: "restart", Why: "env MODEL added; held back while a user is attached"})
	}
	return p
}

func bulk(s *stage) {
	s.choose("builder")
	s.press("space", "space", "space", "r", "y")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "restarting", Total: 3, FailedIndexes: []int{1},
		Receipts: []string{"agent builder is running, pid 4711", "agent idle is running, pid 4712"}, Failures: []string{"chatty: its holder does not answer"}}}})
}

func withAll(s *stage) {
	s.change(withPools)
	s.change(withAutomations)
}

// Every scene matches its golden files at common sizes.
func TestGoldenScenes(t *testing.T) {
	for name, lead := range allScenes() {
		for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}, {40, 10}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := demo(t, size[0], size[1])
				lead(s)
				s.frame(name)
				golden(t, fmt.Sprintf("testdata/%s-%dx%d.txt", name, size[0], size[1]), s.text())
			})
		}
	}
}

// Scenes with a layout that depends on the size match their golden files.
func TestGoldenSizes(t *testing.T) {
	all := allScenes()
	for _, size := range [][2]int{{220, 60}, {200, 60}, {160, 40}, {30, 4}} {
		names := []string{"start", "peek", "quit", "pools", "automations", "rigs", "work", "send", "send-lines", "send-many", "mail", "mail-reply"}
		if size[0] == 200 {
			names = append(names, "events", "details", "help", "palette", "verbs", "copy", "empty", "unheard", "sick", "lost", "readonly", "held",
				"crash", "logs", "undo", "wide-names", "wide-automations", "list-zoomed", "pool-none", "automation-none", "automation-live", "watchdogs", "watchdog-none", "watchdog-start")
		}
		for _, name := range names {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := demo(t, size[0], size[1])
				all[name](s)
				golden(t, fmt.Sprintf("testdata/%s-%dx%d.txt", name, size[0], size[1]), s.text())
			})
		}
	}
}

// A few scenes, which together use all styles, match golden files that include the styles.
func TestGoldenLooks(t *testing.T) {
	all := allScenes()
	for look, options := range looks() {
		for _, name := range []string{"start", "quit", "looked-up", "automations", "watchdogs", "end", "verbs", "sick", "mail"} {
			t.Run(look+"-"+name, func(t *testing.T) {
				s := newStage(t, options)
				s.size(80, 24)
				s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
				all[name](s)
				s.frame(name)
				golden(t, fmt.Sprintf("testdata/%s/%s.txt", look, name), s.painted())
			})
		}
	}
}

// In ASCII mode, the screen has only ASCII characters, except for letters in names and output.
func TestScenesInASCII(t *testing.T) {
	for name, lead := range allScenes() {
		s := newStage(t, Options{ASCII: true})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
		lead(s)
		for _, r := range s.text() {
			if r >= 0x7f && !unicode.In(r, unicode.L, unicode.M) && !strings.HasPrefix(name, "wide-") {
				t.Errorf("%s: %q is not ASCII:\n%s", name, r, s.text())
				break
			}
		}
	}
}

// Agents that need attention are counted first.
func TestHeaderCountsAgentsThatNeedAttention(t *testing.T) {
	for w, want := range map[int]string{120: "1 failed  1 quarantined  1 backoff  4 running  1 draining  1 starting  1 waiting  1 exited  1 suspended", 80: "1 failed  1 quarantined  1 backoff  4 running of 12",
		60: "3 in trouble  4 running of 12", 40: "3 in trouble  4 running", 30: "3 in trouble"} {
		s := demo(t, w, 20)
		if head, _, _ := strings.Cut(s.text(), "\n"); !strings.Contains(head, want) {
			t.Errorf("%d columns: %q", w, head)
		}
	}
	s := demo(t, 60, 20)
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State == city.Failed || a.State == city.Quarantined })
	})
	s.shows("1 backoff  4 running of 10")
	s = demo(t, 80, 24)
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State == city.Running })
	})
	s.shows("1 failed  1 quarantined  1 backoff  0 running of 8")
}

// On a narrow screen, the parts of the header keep their order, and the least important ones are omitted first.
func TestHeaderOmitsInAFixedOrder(t *testing.T) {
	s := demo(t, 80, 24)
	states := func(states ...city.State) {
		s.change(func(n *city.Snapshot) {
			n.Agents = nil
			for i, state := range states {
				n.Agents = append(n.Agents, city.Agent{Name: fmt.Sprint("a", i), State: state})
			}
		})
	}
	head := func(want string) {
		t.Helper()
		got, _, _ := strings.Cut(s.text(), "\n")
		if words := strings.Join(strings.Fields(got), " "); words != want {
			t.Errorf("%q, want %q", words, want)
		}
	}
	states(city.Running)
	head("bright-lights · @ cities · runs here 1 running 10:42")
	states(city.Running, city.Suspended)
	head("bright-lights · @ cities · runs here 1 running 1 suspended 10:42")
	states(city.Running, city.Suspended, city.Failed)
	head("bright-lights · @ cities · runs here 1 failed 1 running 1 suspended 10:42")
	states(city.Running, city.Suspended, city.Failed, city.Quarantined)
	head("bright-lights · @ cities 1 failed 1 quarantined 1 running 1 suspended")
	states(city.Running, city.Suspended, city.Failed, city.Quarantined, city.Starting)
	head("bright-lights · @ cities 1 failed 1 quarantined 1 running of 5 1 starting")
	states(city.Running, city.Suspended, city.Failed, city.Quarantined, city.Starting, city.Unknown)
	head("bright-lights · @ cities 1 failed 1 quarantined 1 unknown 1 running of 6")
	s.wait(s.m.Snap.Patrol.Interval) // the pass is not overdue
	s.hides("last pass", "controller ok")
	s.wait(4 * time.Second)
	s.shows("bright-lights · @  ", "3 in trouble  1 running of 6", "last pass 34s ago\n")
	s.size(120, 36)
	s.shows("1 unknown  1 running  1 starting  1 suspended   last pass 34s ago  10:42\n")
}

func TestGoldenStopped(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := newStage(t, Options{Mode: state.Joined})
		s.size(size[0], size[1])
		snap, why := demoSnapshot(epoch), "the controller has exited"
		snap.ShutDown = true
		s.hear(feed.News{Snap: snap, Unreachable: &why})
		golden(t, fmt.Sprintf("testdata/stopped-%dx%d.txt", size[0], size[1]), s.text())
	}
}

func TestGoldenBelow(t *testing.T) {
	s := demo(t, 200, 60)
	scenes()["peek"](s)
	s.press("P")
	golden(t, "testdata/below-200x60.txt", s.text())
}

// Without colors, the screen has the same text, and only bold, faint and reverse styles.
func TestGoldenNoColor(t *testing.T) {
	s := newStage(t, Options{NoColor: true})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	raw := strings.Join(view.Draw(s.m).Lines, "\n")
	golden(t, "testdata/start-120x40.txt", s.text())
	s.change(withPools)
	s.press("2")
	raw += strings.Join(view.Draw(s.m).Lines, "\n")
	golden(t, "testdata/pools-120x40.txt", s.text())
	s.change(withAutomations)
	s.press("4")
	raw += strings.Join(view.Draw(s.m).Lines, "\n")
	for _, code := range strings.Split(raw, "\x1b[")[1:] {
		code, _, _ = strings.Cut(code, "m")
		for _, code := range strings.Split(code, ";") {
			if code != "" && code != "1" && code != "2" && code != "7" {
				t.Errorf("a color is painted: %q", code)
			}
		}
	}
}
