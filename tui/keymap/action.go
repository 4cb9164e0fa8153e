package keymap

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Zone is a part of the screen that has its own key bindings. Its value is its name in the help and in the docs.
type Zone string

const (
	Everywhere    Zone = "Everywhere" // everywhere except in dialogs and prompts
	InLists       Zone = "Agents, Quarantine"
	InPools       Zone = "Pools"
	InAutomations Zone = "Automations"
	InEvents      Zone = "Events"
	InWatchdogs   Zone = "Watchdogs"
	InRigs        Zone = "Rigs"
	InWork        Zone = "Work"
	InPeek        Zone = "Pane"
	InChoice      Zone = "Questions" // a question with answers
	InReader      Zone = "Reader"    // a page that can be scrolled
	InFinder      Zone = "Help, palette"
	InMail        Zone = "Mail"
	InFleet       Zone = "All cities"
	InPrompt      Zone = "Typing"  // an input line at the bottom of the screen
	InComposer    Zone = "Sending" // a message to agents
)

// dialogs returns the zones in which keys from other zones do not work.
func dialogs() []Zone {
	return []Zone{
		InChoice, InReader, InFinder, InFleet, InPrompt, InComposer,
	}
}

// Dialog reports whether a zone belongs to a dialog.
func (c Zone) Dialog() bool { return slices.Contains(dialogs(), c) }

// Zones returns the zones in the order used in docs: panels first, then dialogs.
func (r *Registry[H, E]) Zones() []Zone {
	zones := []Zone{Everywhere, InLists, InPools, InAutomations, InEvents, InWatchdogs, InRigs,
		InWork, InMail, InPeek}
	for i := range r.Actions {
		for _, c := range r.Actions[i].In {
			if !c.Dialog() && !slices.Contains(zones, c) {
				zones = append(zones, c)
			}
		}
	}
	return append(zones, dialogs()...)
}

// ExcludesAgentVerbs reports whether agent verbs do not apply to the rows of the zone's panel.
func (c Zone) ExcludesAgentVerbs() bool { return c == InRigs || c == InWork || c == InMail }

// DialogGuard is how long a new dialog ignores keys, because they might still be meant for the previous screen.
const DialogGuard = 300 * time.Millisecond

// MaxTypeahead is the maximum time between two keys that arrive together. If the first key opens a
// dialog, the second is not meant for it.
const MaxTypeahead = 20 * time.Millisecond

// Risk is the degree of confirmation that an action requires.
type Risk int

const (
	Harmless Risk = iota
	Confirmed
	NameRequired
)

// String returns the description for docs.
func (r Risk) String() string {
	return [...]string{"", "asks for confirmation", "asks for the name"}[r]
}

// Mark returns the short description for lists of actions.
func (r Risk) Mark() string {
	return [...]string{"", "asks", "asks for the name"}[r]
}

// Action is one command of the control room. Keys, help, palette, footer and docs/keys.md derive from the actions.
type Action[H, E any] struct {
	ID    string
	Key   key.Binding // contains the description for the help: "restart the agent"
	Short string      // text in the footer; "" = not shown
	In    []Zone
	Risk  Risk
	Moves bool           // only moves the cursor
	Why   func(H) string // returns the reason why it cannot run now, or ""; nil = it always can
	Run   func(H) []E
}

// Bind returns a binding with a description and keys, main key first. An action without keys is only in the palette.
func Bind(description string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), description))
}

// Title returns the description of the action.
func (a *Action[H, E]) Title() string { return a.Key.Help().Desc }

// Verb shortens an action's description to words that can follow "cannot". For "from an event: select its agent", it
// returns "select its agent".
func Verb(title string) string {
	what, rest, _ := strings.Cut(title, ": ")
	if strings.HasPrefix(what, "from ") {
		what = rest
	}
	what, _, _ = strings.Cut(what, "; ")
	return what
}

// Registry is the list of actions, in the order of help and footer.
type Registry[H, E any] struct {
	Actions []Action[H, E]
	byZone  map[Zone][]*Action[H, E]
}

// Find returns the action that a key runs in the first zone that binds it, or nil.
func (r *Registry[H, E]) Find(k tea.KeyPressMsg, in ...Zone) *Action[H, E] {
	for _, c := range in {
		for _, a := range r.byZone[c] {
			if key.Matches(k, a.Key) {
				return a
			}
		}
	}
	return nil
}

func (c Zone) acceptsText() bool {
	return c == InChoice || c == InFinder || c == InPrompt ||
		c == InComposer
}

// Reachable reports whether the help can run the action.
func (a *Action[H, E]) Reachable() bool {
	return !slices.ContainsFunc(a.In, Zone.Dialog)
}

// IsAgentVerb reports whether an action applies to agents. In zones for which ExcludesAgentVerbs returns true, its keys
// can have another meaning.
func (a *Action[H, E]) IsAgentVerb() bool { return strings.HasPrefix(a.ID, "agent.") }

// ActionsIn returns the actions of a zone.
func (r *Registry[H, E]) ActionsIn(c Zone) []*Action[H, E] { return r.byZone[c] }

// MainKey returns the main key of an action, or "" if it has none.
func (r *Registry[H, E]) MainKey(id string) string {
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

// WhyUnavailable returns the reason why an action cannot run now, or "".
func (a *Action[H, E]) WhyUnavailable(h H) string {
	if a.Why == nil {
		return ""
	}
	return a.Why(h)
}

// KeyText returns an action's main key for use in messages, or "the palette" if the action has no key.
func (r *Registry[H, E]) KeyText(id string) string {
	return cmp.Or(r.MainKey(id), "the palette")
}

// Hint returns key hints in one line, with the given separator between them.
func (r *Registry[H, E]) Hint(separator string, pairs ...string) string {
	return strings.Join(r.Hints(pairs...), separator)
}

// Hints returns key hints for pairs of an action's ID and a description. Actions without a key are omitted.
func (r *Registry[H, E]) Hints(pairs ...string) (parts []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if k := r.MainKey(pairs[i]); k != "" {
			parts = append(parts, k+" "+pairs[i+1])
		}
	}
	return parts
}
