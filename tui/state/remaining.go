package state

import (
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Row is a row of a list, for example an agent.
type Row interface {
	comparable
	Key() string
}

// Remaining returns a function that returns the rows that still exist, and the names of those that do not.
func Remaining[R Row](rows []R, find func(m *Room, key string) R) func(m *Room) ([]R, []string) {
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = r.Key()
	}
	return func(m *Room) (left []R, gone []string) {
		var missing R
		for _, key := range keys {
			if r := find(m, key); r != missing {
				left = append(left, r)
			} else {
				gone = append(gone, widget.Plain(key))
			}
		}
		return left, gone
	}
}

// FindAgent returns the agent with the given name, or nil.
func FindAgent(m *Room, name string) *panel.AgentRow { return m.Agents.Find(name) }

// FindPool returns the pool with the given name, or nil.
func FindPool(m *Room, name string) *panel.PoolRow { return m.Pools.Find(name) }

// FindAutomation returns the automation with the given name, or nil.
func FindAutomation(m *Room, name string) *panel.AutomationRow { return m.Automations.Find(name) }
