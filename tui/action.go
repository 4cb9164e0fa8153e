package tui

import (
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
type action struct {
	id    string
	key   key.Binding // with what it does, for help: "restart the agent"
	short string      // for the footer, "" = never there
	in    []zone
	risk  risk
	why   func(m *model) string // why it cannot be done now, "" = it can; nil = always
	run   func(m *model) []effect
}

// bind is what an action does and the keys that do it, the usual one first; without any only the palette finds it.
func bind(does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), does))
}

// title is what the action does.
func (a *action) title() string { return a.key.Help().Desc }

// registry is the list of actions; the order is that of help and footer.
type registry struct {
	actions []action
	heard   map[zone][]*action
}

func newRegistry() *registry {
	r := &registry{heard: map[zone][]*action{}}
	for _, group := range [][]action{agentActions(), sendActions(), poolActions(), automationActions(), watchdogActions(), workActions(), mailActions(), rigActions(), configActions(), viewActions(), peekActions(), editActions(), inspectActions(), eventActions(), moveActions(), sortActions(), markActions(), messageActions(), menuActions(), mouseActions(), leaveActions(), dialogActions(), fleetActions()} {
		r.actions = append(r.actions, group...)
	}
	for i := range r.actions {
		a := &r.actions[i]
		for _, c := range a.in {
			r.heard[c] = append(r.heard[c], a)
		}
	}
	return r
}

// find returns what a key does in the first of some zones that knows it, nil if none does.
func (r *registry) find(k tea.KeyPressMsg, in ...zone) *action {
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
func (a *action) reachable() bool {
	return !slices.ContainsFunc(a.in, zone.dialog)
}

// refused is why an action cannot be done now, "" if it can.
func (a *action) refused(m *model) string {
	if a.why == nil {
		return ""
	}
	return a.why(m)
}
