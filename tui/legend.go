package tui

import (
	"fmt"

	"gcity/tui/widget"
)

// legend says in the help what signs stand for, and where is written what each person prefers.
func (m *model) legend() []item {
	g := &m.look.Glyphs
	all := []item{
		{keys: []string{g.Running}, title: "running"},
		{keys: []string{g.Starting}, title: "starting: it runs, and is not ready yet"},
		{keys: []string{g.Waiting}, title: "waiting: it starts when those are up that it depends on"},
		{keys: []string{g.Backoff}, title: "backoff: it ended, and starts again by itself after a pause"},
		{keys: []string{g.Leaving}, title: "draining or stopping: it was told to finish, or is being ended"},
		{keys: []string{g.Failed}, title: "failed or quarantined: it does not start, or ended too often; it needs somebody"},
		{keys: []string{g.Exited}, title: "exited: it ended as it should"},
		{keys: []string{g.Suspended}, title: "suspended: somebody wants it ended; it does not start before it is resumed"},
		{keys: []string{g.Mark}, title: "marked: what is done next is done to all that are marked"},
		{keys: []string{g.Alert}, title: "something is wrong with the city, or with what stands beside it"},
		{keys: []string{g.Mail}, title: "mail that nobody has read; " + m.keys.KeyOf("mail.show") + " shows it"},
		{keys: []string{g.More}, title: "something is cut off here"},
		{keys: []string{g.Below + "9"}, title: "in the title of a list: it has 9 rows more below those that are seen; " + g.Above + "9 above"},
		{keys: []string{"o:need"}, title: "the order of a list at the right of its rule: who needs somebody first; " +
			m.keys.KeyOf("list.sort") + " changes it"},
	}
	for i := range all {
		all[i].words, all[i].tail = "signs symbols glyphs legend", "sign"
	}
	file := m.person.File
	if file == "" {
		file = "the file that `gcity prefs path` names"
	}
	for _, about := range []struct{ what, words string }{
		{"columns = [\"name\", \"state\", \"why\"]: which columns Agents has", "column"},
		{"[keys]: which key does what", "key rebind binding"},
		{"theme, confirm, detach, ascii: how the room looks and what it asks", "theme colours colors confirm"},
	} {
		all = append(all, item{title: fmt.Sprintf("%s, in %s", about.what, widget.Plain(file)),
			words: about.words + " prefs preferences settings options config", tail: "file"})
	}
	return all
}
