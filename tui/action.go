package tui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// zone is where a key is heard.
type zone int

const (
	everywhere zone = iota // unless a dialog or a prompt is open
	inLists                // Agents and Quarantine
	inPools
	inAutomations
	inEvents
	inWatchdogs
	inPeek
	inChoice // a question with answers
	inReader // a text to scroll
	inFinder // help and palette
	inWork
	inMail
	inFleet    // the room of all cities
	inPrompt   // a line being typed at the foot of the screen
	inComposer // a text being written to agents
)

// String names a zone for help and docs.
func (c zone) String() string {
	return [...]string{"Everywhere", "Agents, Quarantine", "Pools", "Automations", "Events", "Watchdogs", "Peek", "Questions", "Texts", "Help, palette", "Work", "Mail", "All cities", "Typing", "Sending"}[c]
}

// risk says what an action may cost.
type risk int

const (
	harmless risk = iota
	confirmed
	typed // something must be typed
)

// String names a risk for help and docs.
func (r risk) String() string { return [...]string{"", "asks first", "type the name"}[r] }

// action is one thing the control room can do. Keys, help, palette, footer and docs/keys.md all come from the list of
// actions, so what is not in it does not exist.
type Action[H, E any] struct {
	id    string
	key   key.Binding // with what it does, for help: "restart the agent"
	short string      // for the footer, "" = never there
	in    []zone
	risk  risk
	why   func(H) string // why it cannot be done now, "" = it can; nil = always
	run   func(H) []E
}

// bind is what an action does and the keys that do it, the usual one first; without any only the palette finds it.
func bind(does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), does))
}

// title is what the action does.
func (a *Action[H, E]) title() string { return a.key.Help().Desc }

// registry is the list of actions; the order is that of help and footer.
type Registry[H, E any] struct {
	actions []Action[H, E]
	heard   map[zone][]*Action[H, E]
}

// find returns what a key does in the first of some zones that knows it, nil if none does.
func (r *Registry[H, E]) find(k tea.KeyPressMsg, in ...zone) *Action[H, E] {
	for _, c := range in {
		for _, a := range r.heard[c] {
			if key.Matches(k, a.key) {
				return a
			}
		}
	}
	return nil
}

// dialog reports whether a zone is one of the dialogs'.
func (c zone) dialog() bool { return c >= inChoice }

// types reports whether characters are typed in a zone.
func (c zone) types() bool { return c == inChoice || c == inFinder || c == inPrompt || c == inComposer }

// reachable reports whether help can run it: everything that is not part of a dialog.
func (a *Action[H, E]) reachable() bool {
	return !slices.ContainsFunc(a.in, zone.dialog)
}

// in returns the actions that are heard in a zone.
func (r *Registry[H, E]) in(c zone) []*Action[H, E] { return r.heard[c] }

// keyNow returns the key that usually does an action, "" if no key does.
func (r *Registry[H, E]) keyNow(id string) string {
	if a := r.called(id); a != nil && a.key.Enabled() {
		return a.key.Keys()[0]
	}
	return ""
}

// keysOf returns all keys of an action.
func (r *Registry[H, E]) keysOf(id string) []string {
	if a := r.called(id); a != nil {
		return a.key.Keys()
	}
	return nil
}

// refused is why an action cannot be done now, "" if it can.
func (a *Action[H, E]) refused(h H) string {
	if a.why == nil {
		return ""
	}
	return a.why(h)
}

// keyOf returns the usual key of an action, for texts; "the palette" if it has none.
func (r *Registry[H, E]) keyOf(id string) string {
	return cmp.Or(r.keyNow(id), "the palette")
}

// hint is hints in one line.
func (r *Registry[H, E]) hint(between string, pairs ...string) string {
	return strings.Join(r.hints(pairs...), between)
}

// hints says which keys do what: pairs of an action's id and what it does there. An action without a key is left out.
func (r *Registry[H, E]) hints(pairs ...string) (parts []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if k := r.keyNow(pairs[i]); k != "" {
			parts = append(parts, k+" "+pairs[i+1])
		}
	}
	return parts
}
