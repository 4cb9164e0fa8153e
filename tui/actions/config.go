package actions

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func configActions() []state.Action {
	global := []keymap.Zone{keymap.Everywhere}
	return []state.Action{
		{ID: "config.confirm",
			Key: keymap.Bind("confirm a held configuration: shows its plan first",
				"C"),
			Short: "confirm",
			In:    global, Risk: keymap.Confirmed, Why: needHeldConfig, Run: askConfirm},
		{ID: "city.reload", Key: keymap.Bind("reload the configuration now"), In: global,
			Why: state.NeedWritable, Run: reload},
	}
}

// HeldConfig returns the configuration that waits for confirmation, or nil.
func HeldConfig(m *state.Room) *city.Held {
	if m.Snap == nil {
		return nil
	}
	return m.Snap.Config.Held
}

func needHeldConfig(m *state.Room) string {
	if why := state.NeedWritable(m); why != "" {
		return why
	}
	if HeldConfig(m) == nil {
		return "no configuration is held"
	}
	return ""
}

func reload(m *state.Room) []feed.Effect {
	return state.Carry(m, "reloading", "the configuration", []city.Command{city.Reload{}})
}

// askConfirm shows the plan of a held configuration. The answer applies to this revision only.
func askConfirm(m *state.Room) []feed.Effect {
	h := HeldConfig(m)
	revision := h.Revision
	do := func(m *state.Room) []feed.Effect {
		if now := HeldConfig(m); now == nil || now.Revision != revision {
			state.Complain(m, "not confirmed: the configuration changed meanwhile; check "+
				"the new plan")
			return nil
		}
		return state.Carry(m, "confirming", "the configuration",
			[]city.Command{city.Reload{Confirm: true, Revision: revision}})
	}
	ask(m, question{title: "Apply configuration " + widget.Plain(revision) + "?",
		body: HeldLines(m, h, 24), verb: "apply it",
		count: len(h.Removes), plan: true, do: do})
	return nil
}

// HeldLines describes the effects of a held configuration, the most severe first. It names at
// most the given number of stopping agents.
func HeldLines(m *state.Room, h *city.Held, most int) []string {
	who := ByPool(m, h.Removes)
	if n := len(who) - most; n > 0 {
		who = append(who[:most:most], fmt.Sprintf("and %d more (%s lists them all)", n,
			m.Keys.KeyOf("city.details")))
	}
	lines := []string{"It " + fleet.Removes(h) + ", which stop: " + strings.Join(who, ", ") + ".",
		"",
		"Its plan:"}
	for _, p := range h.Plan {
		lines = append(lines, "  "+widget.Plain(p))
	}
	return lines
}

// ByPool lists agents in natural order and combines members of a pool: "scout", "worker (8 members)".
func ByPool(m *state.Room, agents []string) []string {
	leaving := map[string]int{}
	pool := func(name string) string {
		if r := m.Agents.Find(name); r != nil && r.Pool != name {
			return r.Pool
		}
		return ""
	}
	for _, name := range agents {
		leaving[pool(name)]++
	}
	var names []string
	said := map[string]bool{"": true}
	agents = slices.Clone(agents)
	slices.SortFunc(agents, city.CompareNames)
	for _, name := range agents {
		p := pool(name)
		switch n, all := leaving[p], len(m.Pools.Members(p)); {
		case p == "" || n == 1:
			names = append(names, widget.Plain(name))
		case said[p]:
		case n == all:
			names = append(names, fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"members)",
				widget.Plain(p), n))
		default:
			names = append(names, fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"of"+widget.NBSP+
				"%d"+widget.NBSP+"members)", widget.Plain(p), n, all))
		}
		said[p] = true
	}
	return names
}
