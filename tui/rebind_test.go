package tui

import (
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

func bound(pairs ...string) (*state.Registry, string) {
	r := actions.NewRegistry(panel.NewLists().Panels)
	var all []keymap.Binding
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, keymap.Binding{Action: pairs[i], Keys: strings.Fields(pairs[i+1]),
			Position: "p:" + widget.Number(i/2+1)})
	}
	return r, strings.Join(r.Rebind(all), "\n")
}

func keysIn(r *state.Registry, id string) string { return strings.Join(r.ByID(id).Key.Keys(), " ") }

// Texts show the user's own keys.
func TestTextsShowTheUsersKeys(t *testing.T) {
	s := automated(t, 120, 40)
	s.hear(feed.News{Preferences: &feed.Preferences{Keys: []keymap.Binding{
		{Action: "agent.release", Keys: []string{"ü"}, Position: "1"}, {Action: "focus.automations", Keys: []string{"ö"}, Position: "2"},
		{Action: "automation.fire", Keys: []string{"T"}, Position: "3"}, {Action: "move.last", Keys: []string{"E"}, Position: "4"},
		{Action: "agent.suspend", Keys: []string{"ctrl+g"}, Position: "5"}, {Action: "quit", Keys: []string{"Q"}, Position: "6"},
	}}})
	s.press("3")
	s.shows("ü release", "broken  press ö")
	s.press("ö")
	s.shows("manual, press T")
	s.size(200, 60)
	s.press("5", "k")
	s.shows("frozen, E follows")
	s.press("1", "ctrl+z")
	s.shows("Q quits")
	s.press("enter")
	s.choose("builder")
	s.press("ctrl+g")
	s.shows("until you press ctrl+g")
}

func TestLeavingKeepsAKeyThatAnotherClaims(t *testing.T) {
	r := actions.NewRegistry(panel.NewLists().Panels)
	problems := r.Rebind([]keymap.Binding{{Action: "agent.restart",
		Keys: []string{"Z", "q", "ctrl+c"}, Position: "1"}, {Action: "quit", Keys: []string{"Z"}, Position: "2"}})
	if got := r.ByID("quit").Key.Keys(); !slices.Equal(got, []string{"q"}) {
		t.Errorf("quit has %q", got)
	}
	if got := r.ByID("agent.restart").Key.Keys(); !slices.Equal(got, []string{"Z", "ctrl+c"}) {
		t.Errorf("restart has %q", got)
	}
	if !strings.Contains(strings.Join(problems, "\n"), "1: keys: agent.restart cannot have q, which is the last key of quit") {
		t.Errorf("the problems are %q", problems)
	}
	r = actions.NewRegistry(panel.NewLists().Panels)
	r.Rebind([]keymap.Binding{{Action: "agent.restart", Keys: []string{"Z", "q"}, Position: "1"},
		{Action: "quit", Keys: []string{"Z"}, Position: "2"}})
	if got := r.ByID("quit").Key.Keys(); !slices.Equal(got, []string{"ctrl+c"}) {
		t.Errorf("quit has %q, although q belongs to another action", got)
	}
}

func TestRebind(t *testing.T) {
	for _, c := range []struct {
		name  string
		pairs []string
		keys  map[string]string // the resulting keys, by action ID
		said  []string          // messages in this order; nil means none
	}{
		{"another key", []string{"agent.restart", "ctrl+r R"}, map[string]string{"agent.restart": "ctrl+r R"}, nil},
		{"none", []string{"agent.restart", ""}, map[string]string{"agent.restart": ""}, nil},
		{"two actions swap keys", []string{"agent.restart", "D", "agent.drain", "r"}, map[string]string{"agent.restart": "D", "agent.drain": "r"}, nil},
		{"different spellings", []string{"agent.restart", "Ctrl+Alt+X shift+y"}, map[string]string{"agent.restart": "ctrl+alt+x Y"}, nil},
		{"unknown", []string{"agent.restrat", "x"}, nil, []string{`p:1: keys: unknown action "agent.restrat"; did you mean "agent.restart"?`}},
		{"unknown, without a similar action", []string{"make.coffee", "x"}, nil, []string{"unknown action \"make.coffee\"; `gcity help keys`"}},
		{"no key", []string{"agent.restart", "blub"}, map[string]string{"agent.restart": "r"}, []string{`invalid key "blub": use`, "The action keeps r"}},
		{"one good, one not", []string{"agent.restart", "R ctrl+m"}, map[string]string{"agent.restart": "R"}, []string{"ctrl+m is enter"}},
		{"taken from another", []string{"agent.restart", "D"}, map[string]string{"agent.restart": "D", "agent.drain": ""},
			[]string{"p:1: keys: agent.restart and agent.drain both claim D; it goes to agent.restart, and agent.drain has no key now"}},
		{"taken, with the message turned off", []string{"agent.restart", "D", "agent.drain", ""}, map[string]string{"agent.restart": "D", "agent.drain": ""}, nil},
		{"taken from one with more", []string{"agent.restart", "j"}, map[string]string{"agent.restart": "j", "move.down": "down"}, []string{"move.down keeps down"}},
		{"two bindings of the user", []string{"agent.restart", "D", "agent.drain", "D x"}, map[string]string{"agent.restart": "D", "agent.drain": "x"},
			[]string{"p:2: keys: agent.restart and agent.drain both claim D; agent.restart keeps it, because its binding comes first"}},
		{"twice", []string{"agent.restart", "D", "agent.restart", "x", "agent.drain", ""}, map[string]string{"agent.restart": "D"}, []string{"already has a binding"}},
		{"another meaning in another zone", []string{"pool.more", "d"}, nil, []string{"both claim d"}},
		{"in another panel", []string{"view.event", "X"}, map[string]string{"view.event": "X"}, nil},
		{"without quit", []string{"quit", ""}, map[string]string{"quit": "q ctrl+c"}, []string{"the action needs a key", "the action keeps q ctrl+c"}},
		{"another quit", []string{"quit", "Q"}, map[string]string{"quit": "Q"}, nil},
		{"half of quit", []string{"agent.restart", "q"}, map[string]string{"agent.restart": "q", "quit": "ctrl+c"}, []string{"quit keeps ctrl+c"}},
		{"all of help", []string{"agent.restart", "? x"}, map[string]string{"agent.restart": "x", "view.help": "?"},
			[]string{"agent.restart cannot have ?, which is the last key of view.help"}},
		{"without a way out of dialogs", []string{"choice.cancel", "", "prompt.cancel", "x"}, map[string]string{"choice.cancel": "esc ctrl+c", "prompt.cancel": "esc ctrl+c"},
			[]string{"the action needs a key", "x types a character in a text field"}},
		{"function keys only", []string{"agent.restart", "f5"}, map[string]string{"agent.restart": "r"}, []string{"f1 to f24"}},
		{"a function key too", []string{"agent.restart", "f5 r"}, map[string]string{"agent.restart": "f5 r"}, nil},
		{"what terminals keep", []string{"agent.restart", "ctrl+s", "agent.drain", "shift+enter ctrl+b"}, map[string]string{"agent.restart": "r", "agent.drain": "D"},
			[]string{"ctrl+s stops the output", "shift+enter is enter", "tmux usually reserves ctrl+b"}},
		{"ctrl+s in the pane", []string{"peek.follow", "ctrl+s", "peek.save", ""}, map[string]string{"peek.follow": "ctrl+s"}, nil},
	} {
		r, said := bound(c.pairs...)
		for id, want := range c.keys {
			if got := keysIn(r, id); got != want {
				t.Errorf("%s: %s has %q, want %q", c.name, id, got, want)
			}
		}
		rest := said
		for _, want := range c.said {
			at := strings.Index(rest, want)
			if at < 0 {
				t.Errorf("%s: %q does not say %q", c.name, said, want)
				break
			}
			rest = rest[at:]
		}
		if len(c.said) == 0 && c.keys != nil && said != "" {
			t.Errorf("%s: says %q", c.name, said)
		}
	}
}

// For any bindings, no essential action is lost, and no key has two meanings in one zone.
func FuzzRebind(f *testing.F) {
	f.Add("quit", "x", "view.help", "x")
	f.Add("agent.restart", "q ctrl+c", "move.down", "?")
	f.Add("view.back", "", "agent.drain", "esc : ctrl+p ?")
	f.Fuzz(func(t *testing.T, id1, keys1, id2, keys2 string) {
		s := demo(t, 80, 24)
		applyPreferences(s.m,
			feed.Preferences{Keys: []keymap.Binding{{Action: id1, Keys: strings.Fields(keys1), Position: "a"},
				{Action: id2, Keys: strings.Fields(keys2), Position: "b"}}})
		r := s.m.Keys
		for i := range r.Actions {
			a := &r.Actions[i]
			if a.Essential() && len(a.Key.Keys()) == 0 {
				t.Errorf("%s has lost its last key", a.ID)
			}
			for j := range r.Actions[:i] {
				b := &r.Actions[j]
				for _, k := range a.Key.Keys() {
					if a.Overlaps(b) && slices.Contains(b.Key.Keys(), k) {
						t.Errorf("key %s is bound to %s and %s", k, b.ID, a.ID)
					}
				}
			}
		}
		view.Draw(s.m)
	})
}

func TestHintsNameTheUsersKeys(t *testing.T) {
	s := newStage(t,
		Options{Preferences: feed.Preferences{Keys: []keymap.Binding{{Action: "prompt.done",
			Keys: []string{"ctrl+o"}, Position: ""}, {Action: "prompt.cancel", Keys: []string{"ctrl+g"}, Position: ""},
			{Action: "composer.send", Keys: []string{"ctrl+o"}, Position: ""}, {Action: "composer.newline", Keys: []string{"ctrl+t"}, Position: ""}, {Action: "composer.leave", Keys: []string{"ctrl+g"}, Position: ""},
			{Action: "finder.run", Keys: []string{"ctrl+o"}, Position: ""}, {Action: "finder.close", Keys: []string{"ctrl+g"}, Position: ""}, {Action: "work.create", Keys: []string{"W"}, Position: ""},
			{Action: "work.close", Keys: []string{"ctrl+g"}, Position: ""}, {Action: "focus.agents", Keys: []string{"A"}, Position: ""}, {Action: "reader.unsend", Keys: []string{"ctrl+y"}, Position: ""}}}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	s.change(withPools)
	s.agent("builder", withTexts)
	s.choose("builder")
	s.press("d")
	s.shows("ctrl+y cancels the queued nudge")
	s.press("esc", "i")
	s.shows("ctrl+o sends  ctrl+t new line  ctrl+g closes")
	s.press("x", "ctrl+t", "y", "ctrl+o")
	s.wants(city.Nudge{Agent: "builder", Text: "x\ny"})
	s.press("2", "S")
	s.shows("ctrl+o sets  ctrl+g cancels")
	s.press("ctrl+g", "i")
	s.shows("press A for the agents")
	s.press("esc", "x")
	s.shows("ctrl+o runs it   ctrl+g closes")
	s.press("ctrl+g", "b")
	s.find(nil, "")
	s.shows("W adds one")
}

// Texts that mention an action without a key refer to the palette.
func TestLastKeyLostToAnother(t *testing.T) {
	for _, a := range actions.NewRegistry(panel.NewLists().Panels).Actions {
		if a.Essential() || !a.Key.Enabled() || a.ID == "rig.resume" {
			continue
		}
		r, _ := bound("rig.resume", strings.Join(a.Key.Keys(), " "))
		if lost := r.ByID(a.ID); len(lost.Key.Keys()) == 0 && (lost.Key.Enabled() || r.KeyText(a.ID) != "the palette" || len(r.Hints(a.ID, "x")) > 0) {
			t.Errorf("%s still counts as having a key", a.ID)
		}
	}
}
