package state

import (
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Row is a row of a list, for example an agent.
type Row interface {
	comparable
	Key() string
}

// Remaining returns a function that returns the rows that still exist, and the names of the others.
func Remaining[R Row](rows []R, find func(key string) R) func(m *Room) ([]R, []string) {
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = r.Key()
	}
	return func(*Room) (left []R, gone []string) {
		var missing R
		for _, key := range keys {
			if r := find(key); r != missing {
				left = append(left, r)
			} else {
				gone = append(gone, widget.Plain(key))
			}
		}
		return left, gone
	}
}

// QueuedNudge is a nudge that is queued for an agent.
type QueuedNudge struct {
	Agent *panel.AgentRow
	Send  *city.Send
}

// QueuedNudges returns the queued nudges of agents. If next is true, it returns only the first nudge of each agent.
func QueuedNudges(rows []*panel.AgentRow, next bool) (all []QueuedNudge) {
	for _, r := range rows {
		for i := range r.Waiting {
			if !next || i == 0 {
				all = append(all, QueuedNudge{Agent: r, Send: &r.Waiting[i]})
			}
		}
	}
	return all
}

// RecipientsOf returns the agents that nudges are queued for.
func RecipientsOf(nudges []QueuedNudge) (rows []*panel.AgentRow) {
	for _, n := range nudges {
		if !slices.Contains(rows, n.Agent) {
			rows = append(rows, n.Agent)
		}
	}
	return rows
}

// RemainingNudges returns a function that returns the nudges that are still queued, and the recipients of the others.
// It compares texts, because a restarted controller uses the same IDs again.
func RemainingNudges(nudges []QueuedNudge) func(m *Room) ([]QueuedNudge, []string) {
	type key struct {
		agent, text string
		id          uint64
	}
	keys := make([]key, len(nudges))
	for i, n := range nudges {
		keys[i] = key{n.Agent.Name, n.Send.Text, n.Send.ID}
	}
	return func(m *Room) (left []QueuedNudge, gone []string) {
		for _, k := range keys {
			at, r := -1, m.Agents.Find(k.agent)
			if r != nil {
				at = slices.IndexFunc(r.Waiting, func(s city.Send) bool {
					return s.ID == k.id && s.Text == k.text
				})
			}
			if at < 0 {
				gone = append(gone, widget.Plain(k.agent))
				continue
			}
			left = append(left, QueuedNudge{r, &r.Waiting[at]})
		}
		return left, gone
	}
}

// FindCity returns the listed city with the given key, or nil.
func FindCity(m *Room, key string) *fleet.City {
	if m.Fleet == nil {
		return nil
	}
	return widget.First(Listed(m), func(c *fleet.City) bool { return c.Key() == key })
}

// NoLonger returns a sentence that says that objects no longer exist.
func NoLonger(gone []string) string {
	return oneOrMore(gone, "no longer exists", "no longer exist")
}

// NotListed returns a sentence saying that objects are no longer listed.
func NotListed(gone []string) string {
	return oneOrMore(gone, "is no longer listed", "are no longer listed")
}

func oneOrMore(names []string, one, more string) string {
	if len(names) == 1 {
		more = one
	}
	return strings.Join(names, ", ") + " " + more
}

// NotQueued returns a sentence saying that nudges to the given agents are no longer queued.
func NotQueued(gone []string) string {
	if len(gone) == 1 {
		return "the nudge to " + gone[0] + " is no longer queued"
	}
	return "the nudges to " + strings.Join(slices.Compact(gone), ", ") + " are no longer queued"
}
