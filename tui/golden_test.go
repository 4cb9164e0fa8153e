package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/city"
)

var update = flag.Bool("update", false, "write what is drawn into testdata and docs/keys.md")

// golden compares with a kept text, or keeps it.
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
		t.Errorf("%s differs (go test ./tui -update keeps what is drawn now):\n%s", path, diff)
	}
}

// scenes are what an operator sees, by the keys that lead there.
func scenes() map[string]func(s *stage) {
	return map[string]func(s *stage){
		"start": func(*stage) {},
		"peek": func(s *stage) {
			s.choose("builder")
			s.hear(news{pane: paneOf("builder", "builder-1")})
		},
		"zoom": func(s *stage) {
			s.choose("builder")
			s.hear(news{pane: paneOf("builder", "builder-1")})
			s.press("enter")
		},
		"quarantine": func(s *stage) { s.press("3") },
		"words": func(s *stage) {
			s.choose("scout")
			s.hear(news{pane: &paneNews{agent: "scout", ended: true, text: []string{"scout: looking for a map", "scout: no map, giving up"}}})
		},
		"crash":     func(s *stage) { s.choose("scout"); s.press("d") },
		"events":    func(s *stage) { s.press("5", "k", "k") },
		"filter":    func(s *stage) { s.press("/", "s", "h", "o", "p") },
		"attention": func(s *stage) { s.press("!") },
		"marks":     func(s *stage) { s.press("space", "space", "space") },
		"help":      func(s *stage) { s.press("?") },
		"search":    func(s *stage) { s.press("?", "s", "u", "s", "p") },
		"details":   func(s *stage) { s.choose("builder"); s.press("d") },
		"event":     func(s *stage) { s.press("5", "k", "k", "k", "enter") },
		"quit":      func(s *stage) { s.press("q") },
		"restart":   func(s *stage) { s.choose("builder"); s.press("r") },
		"end":       func(s *stage) { s.choose("idle"); s.press("ctrl+k", "i", "d") },
		"send":      func(s *stage) { s.choose("idle"); s.press("i", "h", "i") },
		"failed": func(s *stage) {
			s.press("u")
			id := s.m.status.id
			s.hear(news{results: []result{{id: id, title: "releasing", total: 1, failures: []string{"prober is not held back: it fails by itself"}}}})
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
		"pools":              func(s *stage) { s.change(withPools); s.press("2") },
		"pool-details":       func(s *stage) { s.change(withPools); s.pick("worker"); s.press("d") },
		"pool-failing":       func(s *stage) { s.change(withPools); s.pick("triage"); s.press("enter") },
		"drain":              func(s *stage) { s.change(withPools); s.choose("worker-1"); s.press("D") },
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
			s.find(nil, "the store of beads did not answer")
		},
		"automation-attention": func(s *stage) { withAll(s); s.press("4", "!") },
		"automation-none":      func(s *stage) { s.press("4") },
		"automation-events":    func(s *stage) { withAll(s); s.hear(news{events: automationEvents()}); s.press("5") },
		"fire":                 func(s *stage) { withAll(s); s.point("db-health"); s.press("t") },
		"work":                 func(s *stage) { withAll(s); s.press("b"); s.find(someWork(), ""); s.press("j") },
		"work-none":            func(s *stage) { s.press("b"); s.find(nil, "") },
		"work-add":             func(s *stage) { withAll(s); s.press("b"); s.find(someWork(), ""); s.press("n", "h", "i") },
		"empty": func(s *stage) {
			s.change(func(n *city.Snapshot) { n.Agents = nil })
		},
	}
}

// withAll is a city with pools, automations and work.
func withAll(s *stage) {
	s.change(withPools)
	s.change(withAutomations)
}

func TestGoldenScenes(t *testing.T) {
	for name, lead := range scenes() {
		for _, size := range [][2]int{{120, 40}, {80, 24}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := demo(t, size[0], size[1])
				lead(s)
				golden(t, fmt.Sprintf("testdata/%s-%dx%d.txt", name, size[0], size[1]), s.text())
			})
		}
	}
}

func TestGoldenSizes(t *testing.T) {
	for _, size := range [][2]int{{220, 60}, {200, 60}, {160, 40}, {60, 20}, {40, 10}, {30, 4}} {
		for _, name := range []string{"start", "peek", "quit", "pools", "automations", "work"} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				s := demo(t, size[0], size[1])
				scenes()[name](s)
				golden(t, fmt.Sprintf("testdata/%s-%dx%d.txt", name, size[0], size[1]), s.text())
			})
		}
	}
}

func TestGoldenStopped(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := newStage(t, Options{Mode: Joined})
		s.size(size[0], size[1])
		snap, why := demoSnapshot(epoch), "the controller has ended"
		snap.ShutDown = true
		s.hear(news{snap: snap, gone: &why})
		golden(t, fmt.Sprintf("testdata/stopped-%dx%d.txt", size[0], size[1]), s.text())
	}
}

func TestGoldenBelow(t *testing.T) {
	s := demo(t, 200, 60)
	scenes()["peek"](s)
	s.press("P")
	golden(t, "testdata/below-200x60.txt", s.text())
}

// Without colour everything is still told apart: the same text, and no escape but weight and the pane's cursor.
func TestGoldenNoColour(t *testing.T) {
	s := newStage(t, Options{NoColor: true})
	s.size(120, 40)
	s.hear(news{snap: demoSnapshot(epoch), events: demoEvents(epoch)})
	raw := strings.Join(s.m.draw().lines, "\n")
	golden(t, "testdata/start-120x40.txt", s.text())
	s.change(withPools)
	s.press("2")
	raw += strings.Join(s.m.draw().lines, "\n")
	golden(t, "testdata/pools-120x40.txt", s.text())
	s.change(withAutomations)
	s.press("4")
	raw += strings.Join(s.m.draw().lines, "\n")
	for _, code := range strings.Split(raw, "\x1b[")[1:] {
		code, _, _ = strings.Cut(code, "m")
		for _, code := range strings.Split(code, ";") {
			if code != "" && code != "1" && code != "2" && code != "7" {
				t.Errorf("a colour is painted: %q", code)
			}
		}
	}
}

func TestGoldenASCII(t *testing.T) {
	s := newStage(t, Options{ASCII: true})
	s.size(120, 40)
	snap := demoSnapshot(epoch)
	for i := range snap.Agents {
		snap.Agents[i].Reason = strings.ReplaceAll(snap.Agents[i].Reason, "×", "x")
	}
	s.hear(news{snap: snap})
	texts := []string{s.text()}
	golden(t, "testdata/ascii-120x40.txt", texts[0])
	s.change(withPools)
	s.press("2")
	golden(t, "testdata/ascii-pools-120x40.txt", s.text())
	s.change(withAutomations)
	s.press("4")
	golden(t, "testdata/ascii-automations-120x40.txt", s.text())
	for _, keys := range [][]string{{"t"}, {"esc", "d"}, {"esc", "b"}, {"esc", "2"}, {"d"}, {"esc", "<"}, {"esc", "S", "9", "enter"}, {"esc", "1", "D"}, {"esc", "ctrl+k"}} {
		s.press(keys...)
		texts = append(texts, s.text())
	}
	for _, text := range texts {
		for _, r := range text {
			if r >= 0x7f {
				t.Fatalf("%q is not ASCII:\n%s", r, text)
			}
		}
	}
}
