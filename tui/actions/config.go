package actions

import (
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func configActions() []state.Action {
	return []state.Action{
		{ID: "config.confirm",
			Key: keymap.Bind("confirm a held configuration: shows its plan first",
				"C"),
			Short: "confirm",
			Risk:  keymap.Confirmed, Why: needHeldConfig, Run: askConfirm},
		{ID: "city.reload", Key: keymap.Bind("reload the configuration now"),
			Why: state.NeedWritable, Run: reload},
	}
}

// HeldConfig returns the configuration that is waiting for confirmation, or nil.
func HeldConfig(m *state.Room) *city.Held {
	if m.Snap == nil {
		return nil
	}
	return m.Snap.Config.Held
}

func needHeldConfig(m *state.Room) string {
	why := state.NeedWritable(m)
	if why == "" && HeldConfig(m) == nil {
		return "no configuration is held"
	}
	return why
}

func reload(m *state.Room) []feed.Effect {
	return askIfWanted(m, question{title: "Reload the configuration?", verb: "reload it",
		do: sending("reloading", "the configuration", city.Reload{})})
}

// The answer applies only to the revision that was shown.
func askConfirm(m *state.Room) []feed.Effect {
	h := HeldConfig(m)
	revision := h.Revision
	do := func(m *state.Room) []feed.Effect {
		if now := HeldConfig(m); now == nil || now.Revision != revision {
			state.ShowFailure(m, "not confirmed: the configuration has changed in the "+
				"meantime; check the new plan")
			return nil
		}
		return state.SendCommands(m, "confirming", "the configuration",
			city.Reload{Confirm: true, Revision: revision})
	}
	return ask(m, question{title: "Apply configuration " + widget.Plain(revision) + "?",
		body: details.Held(m.Details(), h, 24), verb: "apply it",
		count: len(h.Removes), of: "agents to remove", plan: true, do: do})
}
