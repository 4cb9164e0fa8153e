package actions

import (
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func editPlace(m *state.Room) []feed.Effect {
	_, all := state.Declarations(m)
	_, invalid := state.ConfigError(m)
	switch {
	case len(all) == 0:
		return []feed.Effect{feed.Edit{}}
	case all[0].File == "" && (len(all) == 1 || invalid):
		return []feed.Effect{feed.Edit{At: all[0].FileLine}}
	}
	askWhichFile(m, all)
	return nil
}

func askWhichFile(m *state.Room, all []state.Declaration) {
	c := &state.Choice{Title: "Edit which file?", Since: m.Now}
	if !slices.ContainsFunc(all, func(w state.Declaration) bool { return w.File == "" }) {
		all = append(all, state.Declaration{What: "the city's own file"})
	}
	shown := map[string]bool{}
	for _, w := range all {
		why := m.Files.ReadOnlyReason(w.File)
		if why == "" {
			c.Answers = append(c.Answers, state.Answer{Key: strconv.Itoa(len(c.Answers) + 1),
				Title: state.PlaceName(m, w.FileLine) + ": " + w.What, Safe: true,
				Do: returning(feed.Edit{At: w.FileLine})})
			continue
		}
		c.Body = append(c.Body, state.PlaceName(m, w.FileLine)+" "+w.What+".")
		if !shown[why] {
			c.Body = append(c.Body, widget.PlainLines(why)...)
		}
		shown[why] = true
	}
	c.Answers = append(c.Answers, state.Answer{Key: "n", Title: "none, cancel", Safe: true})
	m.Dialogs.Open(c)
}

func draftName(d *feed.Draft) string {
	if d.File == "" {
		return "configuration"
	}
	return widget.Plain(d.File)
}
