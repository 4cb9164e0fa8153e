package tui

import (
	"fmt"
	"gcity/city"
	"gcity/tui/widget"
)

// answerable is the watchdog under the cursor if it calls and may be answered, else nil.
func (m *model) answerable() *watchdogRow {
	if r := m.watchdogs.Current(); m.focus == panelWatchdogs && m.mode != ReadOnly && r != nil &&
		r.dog.Calls() {
		return r
	}
	return nil
}

// answer says that a person has seen a call.
func (m *model) answer(r *watchdogRow) []effect {
	return m.carry("answering", r.shown, []city.Command{city.Acknowledge{Watchdog: r.name,
		By: "operator"}})
}

func (m *model) beatLine(args []string) ([]effect, string) {
	r := m.watchdogs.Find(args[0])
	if r == nil {
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	}
	if why := r.judgedNow(m.now); why != "" {
		return nil, why
	}
	return m.grantOne(lookNow(r)), ""
}

func (m *model) heardLine(args []string) ([]effect, string) {
	r := m.watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	case !r.dog.Calls():
		return nil, r.shown + " calls for nobody"
	}
	return m.answer(r), ""
}

func (m *model) watchdogNames([]string) []word {
	var all []word
	for i := range m.watchdogs.Rows {
		all = append(all, word{m.watchdogs.Rows[i].name, "watchdog, " + m.watchdogs.Rows[i].word})
	}
	return all
}

// callBadge says how many watchdogs call, "" = none.
func (m *model) callBadge(w int) string {
	n := len(m.watchdogs.calling())
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.look.Glyphs.Alert + widget.Number(n)
	}
	return fmt.Sprintf("%s %d calling", m.look.Glyphs.Alert, n)
}
