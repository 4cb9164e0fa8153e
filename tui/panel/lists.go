package panel

import (
	"slices"

	"gcity/tui/keymap"
)

// Lists are the panels of a room.
type Lists struct {
	Agents      *Agents
	Pools       *Pools
	Quarantine  *Table[*AgentRow]
	Automations *Automations
	Events      *Events
	Watchdogs   *Watchdogs
	Rigs        *Rigs
	Work        *Work
	Mail        *Mail

	Panels []Panel // in display order
}

func NewLists() Lists {
	a := newAgents()
	l := Lists{
		Agents:      a,
		Pools:       newPools(a),
		Quarantine:  newQuarantine(a),
		Automations: newAutomations(),
		Events:      NewEvents(a),
		Watchdogs:   newWatchdogs(a),
		Rigs:        newRigs(a),
		Work:        newWork(a),
		Mail:        newMail(a),
	}
	l.Panels = []Panel{l.Agents, l.Pools, l.Quarantine, l.Automations, l.Events, l.Watchdogs,
		l.Rigs, l.Work, l.Mail}
	return l
}

// ZonesOf returns the zones of the panels that keep accepts, without duplicates.
func ZonesOf(all []Panel, keep func(*About) bool) []keymap.Zone {
	var zones []keymap.Zone
	for _, p := range all {
		if a := p.About(); keep(a) && !slices.Contains(zones, a.Zone) {
			zones = append(zones, a.Zone)
		}
	}
	return zones
}
