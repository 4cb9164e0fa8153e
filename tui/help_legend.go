package tui

import (
	"fmt"

	"gcity/tui/widget"
)

// legend says in the help what signs stand for, and where is written what each person prefers.
func legend(m *model) []item {
	g := &m.look.Glyphs
	all := []item{
		{Keys: []string{g.Running}, Title: "running"},
		{Keys: []string{g.Starting}, Title: "starting: it runs, and is not ready yet"},
		{Keys: []string{g.Waiting},
			Title: "waiting: it starts when those are up that it depends on"},
		{Keys: []string{g.Backoff},
			Title: "backoff: it ended, and starts again by itself after a pause"},
		{Keys: []string{g.Leaving},
			Title: "draining or stopping: it was told to finish, or is being ended"},
		{Keys: []string{g.Failed},
			Title: "failed or quarantined: it does not start, or ended too often; it " +
				"needs somebody"},
		{Keys: []string{g.Exited}, Title: "exited: it ended as it should"},
		{Keys: []string{g.Suspended},
			Title: "suspended: somebody wants it ended; it does not start before it is resumed"},
		{Keys: []string{g.Mark}, Title: "marked: what is done next is done to all that are marked"},
		{Keys: []string{g.Alert},
			Title: "something is wrong with the city, or with what stands beside it"},
		{Keys: []string{g.Mail}, Title: "mail that nobody has read; " + m.keys.KeyOf("mail.show") +
			" shows it"},
		{Keys: []string{g.More}, Title: "something is cut off here"},
		{Keys: []string{g.Below + "9"},
			Title: "in the title of a list: it has 9 rows more below those that are seen; " +
				g.Above + "9 above"},
		{Keys: []string{"o:need"},
			Title: "the order of a list at the right of its rule: who needs somebody first; " +
				m.keys.KeyOf("list.sort") + " changes it"},
	}
	for i := range all {
		all[i].Words, all[i].Tail = "signs symbols glyphs legend", "sign"
	}
	file := m.person.File
	if file == "" {
		file = "the file that `gcity prefs path` names"
	}
	for _, about := range []struct{ what, words string }{
		{"columns = [\"name\", \"state\", \"why\"]: which columns Agents has", "column"},
		{"[keys]: which key does what", "key rebind binding"},
		{"theme, confirm, detach, ascii: how the room looks and what it asks",
			"theme colours colors confirm"},
	} {
		all = append(all, item{Title: fmt.Sprintf("%s, in %s", about.what, widget.Plain(file)),
			Words: about.words + " prefs preferences settings options config", Tail: "file"})
	}
	for i := range all {
		all[i].Info = true
	}
	return all
}
