package tui

import "slices"

// zone is where a key is heard.
type zone int

const (
	everywhere zone = iota // unless a dialog or a prompt is open
	inLists                // Agents and Quarantine
	inEvents
	inPeek
	inChoice // a question with answers
	inReader // a text to scroll
	inFinder // help and palette
	inPrompt // a line being typed at the foot of the screen
)

// String names a zone for help and docs.
func (c zone) String() string {
	return [...]string{"Everywhere", "Agents, Quarantine", "Events", "Peek", "Questions", "Texts", "Help, palette", "Typing"}[c]
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
	title string // what it does, for help: "restart the agent"
	short string // for the footer, "" = never there
	keys  []string
	in    []zone
	risk  risk
	why   func(m *model) string // why it cannot be done now, "" = it can; nil = always
	run   func(m *model) []effect
}

// registry is the list of actions; the order is that of help and footer.
type registry struct {
	actions []action
	byKey   map[zone]map[string]*action
}

func newRegistry() *registry {
	r := &registry{byKey: map[zone]map[string]*action{}}
	for _, group := range [][]action{agentActions(), viewActions(), moveActions(), leaveActions(), dialogActions()} {
		r.actions = append(r.actions, group...)
	}
	for i := range r.actions {
		a := &r.actions[i]
		for _, c := range a.in {
			if r.byKey[c] == nil {
				r.byKey[c] = map[string]*action{}
			}
			for _, k := range a.keys {
				r.byKey[c][k] = a
			}
		}
	}
	return r
}

// find returns what a key does in the first of some zones that knows it, nil if none does.
func (r *registry) find(key string, in ...zone) *action {
	for _, c := range in {
		if a := r.byKey[c][key]; a != nil {
			return a
		}
	}
	return nil
}

// dialog reports whether a zone is one of the dialogs'.
func (c zone) dialog() bool { return c >= inChoice }

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
