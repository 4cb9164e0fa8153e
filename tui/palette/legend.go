package palette

import (
	"fmt"

	"gcity/tui/dialog"
	"gcity/tui/widget"
)

// Legend returns the help rows that explain the symbols and the preferences. file is the preferences file; "" = the
// default file.
func Legend[T any](look *widget.Styles, keyOf func(id string) string,
	file string) []dialog.Item[T] {
	g := &look.Glyphs
	rows := [][2]string{
		{g.Cursor, "the selected row"},
		{g.Mark, "marked: actions apply to all marked rows"},
		{g.Mail, "unread mail; " + keyOf("focus.mail") + " shows it"},
		{g.More, "text is cut off here"},
		{g.Below + "9", "in a list title: 9 more rows below; " + g.Above + "9: 9 more rows above"},
		{g.Above + " " + g.Below, "next to a column title: the list is sorted by this column; " +
			keyOf("list.sort") + " or a click on a column title changes the order"},
		{"(" + g.Below + ")",
			"order held: while you work in a list, its rows keep their places"},
		{"asks", "it asks first: actions that stop agents ask, most others do not"},
	}
	var all []dialog.Item[T]
	for _, row := range append(rows, states(look)...) {
		all = append(all, dialog.Item[T]{Keys: row[:1], Title: row[1],
			Words: "signs symbols glyphs legend", Note: "symbol"})
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

func states(look *widget.Styles) [][2]string {
	g := &look.Glyphs
	return [][2]string{
		{g.Running, "running"},
		{g.Running, "pools: steady; automations: idle; watchdogs: fresh"},
		{g.Starting, "starting: it is running but not ready yet"},
		{g.Starting, "pools: growing; automations: running"},
		{g.Starting, "work: in progress"},
		{g.Waiting, "waiting: it starts after its dependencies"},
		{g.Waiting, "automations: due; work: blocked"},
		{g.Waiting, "watchdogs: stale; cities: joining"},
		{g.Backoff, "backoff: it exited and will restart after a delay"},
		{g.Backoff, "watchdogs: very stale"},
		{g.Leaving, "draining: it was asked to finish"},
		{g.Stopping, "stopping: it is being stopped"},
		{g.Shrinking, "shrinking: surplus members are draining"},
		{g.Alert, "asking: it asks a question; attach to answer it"},
		{g.Alert, "stuck: it has work but prints nothing"},
		{g.Alert, "pools: short; rigs: troubled; automations: broken"},
		{g.Alert, "watchdogs: calls; cities: trouble"},
		{g.Alert, "a problem with the city, or with something it uses"},
		{g.Failed, "failed: it does not start; it needs attention"},
		{g.Failed, "pools, automations: failing; rigs: broken"},
		{g.Failed, "watchdogs: dead; cities: crashed"},
		{g.Quarantined, "quarantined: it crashed too often"},
		{g.Unknown, "unknown: its provider does not respond"},
		{g.Unknown, "watchdogs: unchecked"},
		{g.Exited, "exited: it ended as intended"},
		{g.Exited, "rigs: idle; cities: stopped"},
		{g.Stopped, "stopped: no controller is running to start it"},
		{g.Suspended, "suspended: it does not start until it is resumed"},
		{g.Suspended, "automations: off; work: open"},
		{g.Manual, "manual: the automation fires only on request"},
		{g.Refused, "refused: the city cannot be opened"},
		{g.Silent, "silent: the city's controller does not respond"},
		{g.Stalled, "stalled: the controller's patrol is overdue"},
		{g.Done, "closed work"},
		{g.OK, "a successful action, or no problems"},
		{g.Here, "in the list of cities: the city of this room"},
	}
}
