package palette

import (
	"fmt"

	"gcity/tui/dialog"
	"gcity/tui/widget"
)

// Legend returns the help rows that explain the symbols and the preferences. The parameter file is the path of the
// preferences file; "" = the default file.
func Legend[T any](look *widget.Styles, keyOf func(id string) string,
	file string) []dialog.Item[T] {
	g := &look.Glyphs
	all := []dialog.Item[T]{
		{Keys: []string{g.Running}, Title: "running"},
		{Keys: []string{g.Starting}, Title: "starting: it is running but not ready yet"},
		{Keys: []string{g.Waiting},
			Title: "waiting: it starts when the agents it depends on are up"},
		{Keys: []string{g.Backoff},
			Title: "backoff: it exited and restarts after a delay"},
	}
	all = append(all, leavingStates[T](look)...)
	all = append(all, []dialog.Item[T]{
		{Keys: []string{g.Suspended},
			Title: "suspended: a user stopped it; it does not start until it is resumed"},
		{Keys: []string{g.Mark}, Title: "marked: actions apply to all marked rows"},
		{Keys: []string{g.Alert},
			Title: "a problem with the city or something it uses, or a stuck agent"},
		{Keys: []string{g.Mail}, Title: "unread mail; " + keyOf("focus.mail") +
			" shows it"},
		{Keys: []string{g.More}, Title: "text is cut off here"},
		{Keys: []string{g.Below + "9"},
			Title: "in a list title: 9 more rows below; " +
				g.Above + "9: 9 more rows above"},
		{Keys: []string{g.Above + " " + g.Below},
			Title: "next to a column title: the list is sorted by this column; " +
				keyOf("list.sort") + " or a click on a column title changes the order"},
		{Keys: []string{"(" + g.Below + ")"},
			Title: "order paused: while you work in a list, its rows keep their places"},
	}...)
	for i := range all {
		all[i].Words, all[i].Note = "signs symbols glyphs legend", "symbol"
	}
	if file == "" {
		file = "the file that `gcity prefs path` prints"
	}
	for _, about := range []struct{ what, words string }{
		{"columns = [\"name\", \"state\", \"why\"]: the columns of Agents", "column"},
		{"[keys]: the keys of actions", "key rebind binding"},
		{"theme, confirm, detach, ascii: appearance and confirmations",
			"theme colours colors confirm"},
	} {
		all = append(all, dialog.Item[T]{Title: fmt.Sprintf("%s, in %s", about.what,
			widget.Plain(file)),
			Words: about.words + " prefs preferences settings options config", Note: "file"})
	}
	for i := range all {
		all[i].Info = true
	}
	return all
}

// leavingStates returns the rows for the states that share one symbol in Unicode and have different symbols in ASCII.
func leavingStates[T any](look *widget.Styles) []dialog.Item[T] {
	g := &look.Glyphs
	if g.Leaving == g.Stopping {
		return []dialog.Item[T]{
			{Keys: []string{g.Leaving},
				Title: "draining or stopping: it was asked to finish, or is being stopped"},
			{Keys: []string{g.Failed},
				Title: "failed or quarantined: it does not start, or crashed too often; it " +
					"needs attention"},
			{Keys: []string{g.Exited}, Title: "exited: it ended as intended"},
		}
	}
	return []dialog.Item[T]{
		{Keys: []string{g.Leaving}, Title: "draining: it was asked to finish"},
		{Keys: []string{g.Stopping}, Title: "stopping: it is being stopped"},
		{Keys: []string{g.Shrinking}, Title: "shrinking: surplus members of the pool drain"},
		{Keys: []string{g.Failed}, Title: "failed: it does not start; it needs attention"},
		{Keys: []string{g.Quarantined},
			Title: "quarantined: it crashed too often; it needs attention"},
		{Keys: []string{g.Unknown}, Title: "unknown: its provider does not respond"},
		{Keys: []string{g.Exited}, Title: "exited: it ended as intended"},
		{Keys: []string{g.Stopped}, Title: "stopped: no controller is running to start it"},
		{Keys: []string{g.Manual}, Title: "manual: the automation fires only on request"},
		{Keys: []string{g.Refused}, Title: "refused: the city cannot be opened"},
		{Keys: []string{g.Silent}, Title: "silent: the city's controller does not respond"},
		{Keys: []string{g.Stalled}, Title: "stalled: the city's controller is late"},
	}
}
