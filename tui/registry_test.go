package tui

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"

	"gcity/tui/actions"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

// Every action has a unique ID, and no key has two meanings in one zone.
func TestRegistry(t *testing.T) {
	r := actions.NewRegistry(panel.NewLists().Panels)
	ids := map[string]bool{}
	type place struct {
		in  keymap.Zone
		key string
	}
	keys := map[place]string{}
	for i := range r.Actions {
		a := &r.Actions[i]
		if ids[a.ID] || a.ID == "" || a.Title() == "" || a.Run == nil || len(a.In) == 0 {
			t.Errorf("action %q: the ID is not unique, or a field is missing", a.ID)
		}
		ids[a.ID] = true
		if a.Short != "" && !a.Key.Enabled() {
			t.Errorf("%s is in the footer without a key", a.ID)
		}
		for _, c := range a.In {
			for _, k := range a.Key.Keys() {
				at := place{c, k}
				if other := keys[at]; other != "" {
					t.Errorf("key %s is bound to %s and %s in %q", k, other, a.ID, c)
				}
				keys[at] = a.ID
			}
		}
	}
	for at, id := range keys {
		other := keys[place{keymap.Everywhere, at.key}]
		if other != "" && other != id && !at.in.Dialog() && !(at.in.ExcludesAgentVerbs() && r.ByID(other).IsAgentVerb()) {
			t.Errorf("key %s is bound to %s everywhere, and to %s in %q", at.key, other, id, at.in)
		}
	}
}

// Every binding works: in the zone of an action, its key runs the action or shows why it cannot run.
func TestEveryBindingIsHandled(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	open := map[keymap.Zone][]string{
		keymap.Everywhere: {}, keymap.InLists: {"1"}, keymap.InPools: {"2"},
		keymap.InAutomations: {"4"}, keymap.InWork: {"8"}, keymap.InMail: {"9"},
		keymap.InEvents: {"5"}, keymap.InWatchdogs: {"6"}, keymap.InRigs: {"7"}, keymap.InPeek: {"0"},
		keymap.InChoice: {"q"}, keymap.InReader: {"d"}, keymap.InFinder: {"?"},
		keymap.InPrompt:   {"/"},
		keymap.InComposer: {"/", "i", "d", "l", "e", "enter", "i"},
	}
	for _, a := range actions.NewRegistry(panel.NewLists().Panels).Actions {
		for _, c := range a.In {
			for _, k := range a.Key.Keys() {
				s := automated(t, 120, 40)
				s.m.Files = textFile{"/x/city.toml"}
				s.change(held("builder"))
				s.change(withWatchdogs)
				s.press(open[c]...)
				s.find(append(someWork(), someMail()...), "")
				if c == keymap.InFleet {
					s = lobby(t, 120, 40, Options{})
				}
				ran := false
				for i := range s.m.Keys.Actions {
					if b := &s.m.Keys.Actions[i]; b.ID == a.ID {
						old := b.Run
						b.Run = func(m *state.Room) []feed.Effect { ran = true; return old(m) }
						b.Why = nil
					}
				}
				s.press(k)
				view.Draw(s.m)
				if !ran {
					t.Errorf("key %s in %q does not run %s", k, c, a.ID)
				}
			}
		}
	}
}

// docs/keys.md is generated from the registry; -update rewrites it.
func TestKeysDoc(t *testing.T) {
	golden(t, "../docs/keys.md", keysDoc(actions.NewRegistry(panel.NewLists().Panels)))
}

func keysDoc(r *state.Registry) string {
	var b strings.Builder
	b.WriteString("# Control room keys\n\n<!-- Written by `go test ./tui -run TestKeysDoc -update`; edit the registry, not this page. -->\n\n" +
		"This page lists all keys of the control room. In the control room, `?` shows the same list: type to search, and press\n" +
		"`enter` to run the selected action. `ctrl+q` detaches from an agent's terminal.\n\n" +
		"A filter (`/`) consists of words, all of which must match. `!x` excludes the rows that match `x`. `~x` matches names\n" +
		"that contain the letters of `x` in the same order. `state:x` matches rows with a state that begins with `x`; `pool:`,\n" +
		"`rig:`, `name:` and `provider:` work in the same way.\n\n" +
		"An action applies to the marked rows, or to the selected row if none is marked. The effect of the keys for agents\n" +
		"depends on the panel:\n\n" +
		"- In Pools, `s`, `r`, `D`, `d`, `W` and `B` apply to the pool. `D` and `r` can also apply to one member, and `a`\n" +
		"  attaches to one member. For all other actions on agents, press `1` to go to Agents.\n" +
		"- In Watchdogs, the keys for agents apply to the watched agent, and `u` acknowledges a call.\n" +
		"- In Rigs, Work and Mail, the panel's own keys take precedence, and the other keys for agents are not available.\n" +
		"- In Automations, and in the pane while it shows an automation's output, most keys for agents are not available.\n" +
		"- In all other panels, the keys for agents apply to the agents that are selected or marked in Agents. `s` also applies\n" +
		"  to marked pools, and `t` to marked automations.\n")
	for _, c := range r.Zones() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action | confirmation | ID |\n|---|---|---|---|\n", c)
		for i := range r.Actions {
			a := &r.Actions[i]
			if !has(a, c) {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", keyCell(a.Key), a.Title(), a.Risk, a.ID)
		}
	}
	b.WriteString("\n## In every input line\n\nIn the control room, you can paste text only into input lines.\n\n| key | action |\n|---|---|\n")
	e := widget.Editing()
	for _, k := range []key.Binding{
		e.CharacterBackward, e.CharacterForward, e.WordBackward, e.WordForward, e.LineStart, e.LineEnd, e.DeleteCharacterBackward,
		e.DeleteCharacterForward, e.DeleteWordBackward, e.DeleteBeforeCursor, e.DeleteAfterCursor,
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", keyCell(k), k.Help().Desc)
	}
	b.WriteString("\nThe input field for text to agents also has these keys:\n\n| key | action |\n|---|---|\n")
	c := dialog.Composing()
	for _, k := range []key.Binding{c.PageUp, c.PageDown, c.InputBegin, c.InputEnd} {
		fmt.Fprintf(&b, "| %s | %s |\n", keyCell(k), k.Help().Desc)
	}
	b.WriteString("\n## Actions with names, in the palette\n\nThese actions have the same names as on the command line. An action that takes a name applies to what you name, not to\n" +
		"the selected or marked rows, and does not change the marks. `tab` completes a name, and `up` brings back earlier lines.\n" +
		"`why` also means `details`, and `run` means `fire`.\n\n| text | action |\n|---|---|\n")
	for _, v := range actions.Verbs() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace(v.Name+" "+strings.ReplaceAll(v.Usage, "|", "\\|")), v.Description)
	}
	b.WriteString("\nIn a question, the letter next to an answer chooses that answer. For 0.3 seconds after the question opens, `enter` and\nclicks do not choose an answer, because they might be meant for the previous screen. If the question opened without a\nkey press, the same applies to the letters.\n")
	b.WriteString("\nTo change the key for an action, add the line `ID = \"key\"` under `[keys]` to the preferences file; the tables above\nshow the IDs. See [room.md](room.md#preferences).\n")
	return b.String()
}

func keyCell(k key.Binding) string {
	if !k.Enabled() {
		return "palette"
	}
	return strings.ReplaceAll("`"+strings.Join(k.Keys(), "` `")+"`", "|", `\|`)
}

func has(a *state.Action, c keymap.Zone) bool {
	for _, in := range a.In {
		if in == c {
			return true
		}
	}
	return false
}
