package tui

import (
	"fmt"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// answerable is the watchdog under the cursor if it calls and may be answered, else nil.
func (m *model) answerable() *panel.WatchdogRow {
	if r := m.Watchdogs.Current(); actsOn(m, panel.KindWatchdog) && m.mode != ReadOnly &&
		r != nil &&
		r.Dog.Calls() {
		return r
	}
	return nil
}

// answer says that a person has seen a call.
func (m *model) answer(r *panel.WatchdogRow) []effect {
	return m.carry("answering", r.Shown, []city.Command{city.Acknowledge{Watchdog: r.Name,
		By: "operator"}})
}

func (m *model) beatLine(args []string) ([]effect, string) {
	r := m.Watchdogs.Find(args[0])
	if r == nil {
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	}
	if why := r.JudgedNow(m.now); why != "" {
		return nil, why
	}
	return m.grantOne(panel.LookNow(r)), ""
}

func (m *model) heardLine(args []string) ([]effect, string) {
	r := m.Watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	case !r.Dog.Calls():
		return nil, r.Shown + " calls for nobody"
	}
	return m.answer(r), ""
}

func (m *model) watchdogNames([]string) []word {
	var all []word
	for i := range m.Watchdogs.Rows {
		all = append(all, word{m.Watchdogs.Rows[i].Name, "watchdog, " + m.Watchdogs.Rows[i].Word})
	}
	return all
}

// callBadge says how many watchdogs call, "" = none.
func (m *model) callBadge(w int) string {
	n := len(m.Watchdogs.Calling())
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.look.Glyphs.Alert + widget.Number(n)
	}
	return fmt.Sprintf("%s %d calling", m.look.Glyphs.Alert, n)
}
