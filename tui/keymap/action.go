package keymap

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Zone is where a key is heard, by the name that help and docs have for it. A panel may have a zone of its own.
type Zone string

const (
	Everywhere    Zone = "Everywhere" // unless a dialog or a prompt is open
	InLists       Zone = "Agents, Quarantine"
	InPools       Zone = "Pools"
	InAutomations Zone = "Automations"
	InEvents      Zone = "Events"
	InWatchdogs   Zone = "Watchdogs"
	InPeek        Zone = "Peek"
	InChoice      Zone = "Questions"     // a question with answers
	InReader      Zone = "Texts"         // a text to scroll
	InFinder      Zone = "Help, palette" // help and palette
	InWork        Zone = "Work"
	InMail        Zone = "Mail"
	InFleet       Zone = "All cities" // the room of all cities
	InPrompt      Zone = "Typing"     // a line being typed at the foot of the screen
	InComposer    Zone = "Sending"    // a text being written to agents
)

// dialogs returns the zones of dialogs and of the fleet, in which no key of another zone is heard.
func dialogs() []Zone {
	return []Zone{
		InChoice, InReader, InFinder, InWork, InMail, InFleet, InPrompt, InComposer,
	}
}

// Dialog reports whether a zone is one of the dialogs'.
func (c Zone) Dialog() bool { return slices.Contains(dialogs(), c) }

// Zones returns the zones of the actions in the order of docs: the panels' zones come before the dialogs'.
func (r *Registry[H, E]) Zones() []Zone {
	zones := []Zone{Everywhere, InLists, InPools, InAutomations, InEvents, InWatchdogs, InPeek}
	for i := range r.Actions {
		for _, c := range r.Actions[i].In {
			if !c.Dialog() && !slices.Contains(zones, c) {
				zones = append(zones, c)
			}
		}
	}
	return append(zones, dialogs()...)
}

// Guard is how long something new on the screen ignores keys: they were meant for what was there before.
const Guard = 300 * time.Millisecond

// Risk says what an action may cost.
type Risk int

const (
	Harmless Risk = iota
	Confirmed
	Typed // something must be typed
)

// String names a risk for help and docs.
func (r Risk) String() string { return [...]string{"", "asks first", "type the name"}[r] }

// Action is one thing the control room can do. Keys, help, palette, footer and docs/keys.md all come from the list of
// actions, so what is not in it does not exist.
type Action[H, E any] struct {
	ID    string
	Key   key.Binding // with what it does, for help: "restart the agent"
	Short string      // for the footer, "" = never there
	In    []Zone
	Risk  Risk
	Why   func(H) string // why it cannot be done now, "" = it can; nil = always
	Run   func(H) []E
}

// Bind is what an action does and the keys that do it, the usual one first; without any only the palette finds it.
func Bind(does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), does))
}

// Title is what the action does.
func (a *Action[H, E]) Title() string { return a.Key.Help().Desc }

// Registry is the list of actions; the order is that of help and footer.
type Registry[H, E any] struct {
	Actions []Action[H, E]
	heard   map[Zone][]*Action[H, E]
}

// Find returns what a key does in the first of some zones that knows it, nil if none does.
func (r *Registry[H, E]) Find(k tea.KeyPressMsg, in ...Zone) *Action[H, E] {
	for _, c := range in {
		for _, a := range r.heard[c] {
			if key.Matches(k, a.Key) {
				return a
			}
		}
	}
	return nil
}

// types reports whether characters are typed in a zone.
func (c Zone) types() bool {
	return c == InChoice || c == InFinder || c == InPrompt ||
		c == InComposer
}

// Reachable reports whether help can run it: everything that is not part of a dialog.
func (a *Action[H, E]) Reachable() bool {
	return !slices.ContainsFunc(a.In, Zone.Dialog)
}

// In returns the actions that are heard in a zone.
func (r *Registry[H, E]) In(c Zone) []*Action[H, E] { return r.heard[c] }

// KeyNow returns the key that usually does an action, "" if no key does.
func (r *Registry[H, E]) KeyNow(id string) string {
	if a := r.ByID(id); a != nil && a.Key.Enabled() {
		return a.Key.Keys()[0]
	}
	return ""
}

// KeysOf returns all keys of an action.
func (r *Registry[H, E]) KeysOf(id string) []string {
	if a := r.ByID(id); a != nil {
		return a.Key.Keys()
	}
	return nil
}

// Refused is why an action cannot be done now, "" if it can.
func (a *Action[H, E]) Refused(h H) string {
	if a.Why == nil {
		return ""
	}
	return a.Why(h)
}

// KeyOf returns the usual key of an action, for texts; "the palette" if it has none.
func (r *Registry[H, E]) KeyOf(id string) string {
	return cmp.Or(r.KeyNow(id), "the palette")
}

// Hint is hints in one line.
func (r *Registry[H, E]) Hint(between string, pairs ...string) string {
	return strings.Join(r.Hints(pairs...), between)
}

// Hints says which keys do what: pairs of an action's id and what it does there. An action without a key is left out.
func (r *Registry[H, E]) Hints(pairs ...string) (parts []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if k := r.KeyNow(pairs[i]); k != "" {
			parts = append(parts, k+" "+pairs[i+1])
		}
	}
	return parts
}
