package tui

import (
	"fmt"
	"maps"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/view"
)

func allScenes() map[string]func(s *stage) {
	all := scenes()
	maps.Copy(all, map[string]func(s *stage){
		"joined":      func(s *stage) { s.m.Mode = state.Joined },
		"readonly":    func(s *stage) { s.m.Mode = state.ReadOnly; s.press("x") },
		"quit-joined": func(s *stage) { s.m.Mode = state.Joined; s.line("stop city", "enter") },
		"quit-waits":  func(s *stage) { s.press("q", "d") },
		"unheard": func(s *stage) {
			w, h := s.m.W, s.m.H
			*s = *newStage(s.t, Options{ASCII: s.m.ASCII})
			s.size(w, h)
		},
		"lost": func(s *stage) {
			s.m.Mode = state.Joined
			why := "connection refused"
			s.hear(feed.News{Unreachable: &why})
		},
		"count":  func(s *stage) { s.press("*", "r") },
		"themes": func(s *stage) { s.line("theme ") },
		"columns": func(s *stage) {
			s.hear(feed.News{Preferences: &feed.Preferences{Columns: []string{"name", "state", "pool", "provider", "why", "age"}}})
		},
		"list-zoomed":  func(s *stage) { s.change(withPools); s.press("f") },
		"event-filter": func(s *stage) { s.press("5", "/"); s.typeIn("type:crashed since:10m") },
		"pane-search": func(s *stage) {
			s.choose("builder")
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
			s.press("0", "/", "o", "k")
		},
		"found-none": func(s *stage) { s.press("/"); s.typeIn("nobody at all"); s.press("enter") },
		"fit": func(s *stage) {
			s.choose("monitor")
			s.hear(feed.News{Pane: paneOf("monitor", "monitor-1")})
			s.press("0", "z")
		},
		"watchdogs":         func(s *stage) { guarded(s); s.press("6") },
		"watchdog-start":    guarded,
		"watchdog-details":  func(s *stage) { guarded(s); s.pointWatchdog("chain"); s.press("d") },
		"watchdog-late":     func(s *stage) { guarded(s); s.pointWatchdog("late") },
		"watchdog-none":     func(s *stage) { s.press("6") },
		"watchdog-verbs":    func(s *stage) { guarded(s); s.pointWatchdog("chain"); s.press("x") },
		"stuck":             func(s *stage) { guarded(s); s.choose("monitor"); s.press("d") },
		"rigs":              func(s *stage) { s.change(withRigs); s.press("7") },
		"rig-details":       func(s *stage) { s.change(withRigs); s.press("7", "j", "enter") },
		"rig-suspend":       func(s *stage) { s.change(withRigs); s.press("7", "j", "s") },
		"rig-none":          func(s *stage) { s.press("7") },
		"pool-verbs":        func(s *stage) { s.change(withPools); s.pick("worker"); s.press("x") },
		"automation-verbs":  func(s *stage) { withAll(s); s.point("db-health"); s.press("x") },
		"automation-copies": func(s *stage) { withAll(s); s.point("db-health"); s.press("y") },
		"work-details":      func(s *stage) { withAll(s); s.press("8"); s.find(todaysWork(), ""); s.press("j", "j", "j", "enter") },
		"suspend-city":      func(s *stage) { s.line("city.suspend", "enter") },
		"wide-names":        func(s *stage) { withAll(s); s.change(wideNames) },
		"wide-pools":        func(s *stage) { withAll(s); s.change(wideNames); s.press("2") },
		"wide-automations":  func(s *stage) { withAll(s); s.change(wideNames); s.press("4") },
		"wide-details":      func(s *stage) { withAll(s); s.change(wideNames); s.press("d") },
		"wide-question":     func(s *stage) { withAll(s); s.change(wideNames); s.press("r") },
	})
	return all
}

func wideNames(n *city.Snapshot) {
	const name, why = "東京支社の審査担当エージェント", "準備ができるまで待っています。次の確認は一分後です。"
	n.Name, n.Host = "明るい灯の街", "開発機"
	for i := range n.Agents {
		a := &n.Agents[i]
		a.Name, a.Reason, a.Description = fmt.Sprint(name, "-", i+1), why, why
		a.Quarantine = nil // a narrow column shows the long reason
	}
	for i := range n.Pools {
		n.Pools[i].Name, n.Pools[i].Reason, n.Pools[i].Check.Problem = fmt.Sprint(name, i+1), why, why
	}
	all := append([]city.Automation(nil), n.Automations...)
	for i := range all {
		a := &all[i]
		a.Name, a.Reason = fmt.Sprint(name, i+1), why
		if a.State == city.AutomationBackoff { // the reason does not describe a retry
			a.State = city.AutomationIdle
		}
	}
	n.Automations = all
}

func looks() map[string]Options {
	load := func(name string) themes.Theme {
		t, err := themes.Load(name)
		if err != nil {
			panic(err)
		}
		return t
	}
	return map[string]Options{
		"16-colors": {},
		"light":     {Theme: load("light")},
		"contrast":  {Theme: load("high-contrast")},
		"no-color":  {NoColor: true},
		"ascii":     {ASCII: true, NoColor: true},
	}
}

// painted returns the screen with its styles written as text: «bold», «31», and «» for the end of a style.
func (s *stage) painted() string {
	lines := view.Draw(s.m).Lines
	for i, l := range lines {
		var out strings.Builder
		for l != "" {
			before, rest, found := strings.Cut(l, "\x1b[")
			out.WriteString(before)
			if !found {
				break
			}
			codes, after, _ := strings.Cut(rest, "m")
			out.WriteString("«" + codes + "»")
			l = after
		}
		lines[i] = strings.TrimRight(strings.ReplaceAll(out.String(), "«»«»", "«»"), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
