package tui

import (
	"fmt"
	"strings"

	"gcity/city"
)

// configActions are about the city's configuration.
func configActions() []action {
	global := []zone{everywhere}
	return []action{
		{id: "config.confirm", key: bind("confirm a configuration that is held: shows its plan and asks", "C"), short: "confirm",
			in: global, risk: confirmed, why: needHeldConfig, run: (*model).askConfirm},
		{id: "city.reload", key: bind("read the configuration now"), in: global, why: needWritable, run: (*model).reload},
	}
}

// held is the configuration that waits to be confirmed, nil if there is none.
func (m *model) held() *city.Held {
	if m.snap == nil {
		return nil
	}
	return m.snap.Config.Held
}

func needHeldConfig(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	if m.held() == nil {
		return "no configuration is held"
	}
	return ""
}

func (m *model) reload() []effect {
	return m.carry("reading", "the configuration", []city.Command{city.Reload{}})
}

// removes says what makes a configuration wait.
func removes(h *city.Held) string {
	return fmt.Sprintf("removes %d of %s", len(h.Removes), count(h.Running, "running agent"))
}

// askConfirm shows what a held configuration does; what is confirmed is that one, and no later one.
func (m *model) askConfirm() []effect {
	h := m.held()
	revision := h.Revision
	do := func(m *model) []effect {
		if now := m.held(); now == nil || now.Revision != revision {
			m.complain("not confirmed: the configuration has changed meanwhile; look at the plan of the new one")
			return nil
		}
		return m.carry("confirming", "the configuration", []city.Command{city.Reload{Confirm: true, Revision: revision}})
	}
	m.ask(question{title: "Put configuration " + plain(revision) + " into force?", body: m.heldLines(h), verb: "put it into force",
		count: len(h.Removes), do: do})
	return nil
}

// heldLines are what a held configuration would do, the worst first.
func (m *model) heldLines(h *city.Held) []string {
	var names []string
	for _, name := range h.Removes {
		names = append(names, plain(name))
	}
	lines := []string{"It " + removes(h) + ", which end: " + strings.Join(names, ", ") + ".", "", "Its plan:"}
	for _, p := range h.Plan {
		lines = append(lines, "  "+plain(p))
	}
	return lines
}
