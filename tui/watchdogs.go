package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
)

// watchdogRow is a watchdog made ready to be shown: every text cleaned, once.
type watchdogRow struct {
	name    string // as the city knows it
	shown   string
	watches string // an agent, as the city knows it
	word    string // how it stands
	dog     *city.Watchdog
	told    string // why it stands so, without times that run down
}

func newWatchdogRow(w *city.Watchdog, dot string) watchdogRow {
	r := watchdogRow{name: w.Name, shown: plain(w.Name), watches: w.Watches, word: plain(w.Word()), dog: w}
	var parts []string
	if w.Calls() {
		parts = append(parts, "for "+plain(w.Escalated.To)+": "+plain(w.Escalated.Message))
	}
	if w.Degraded != "" {
		parts = append(parts, "degraded: "+plain(w.Degraded))
	}
	if w.Problem != "" {
		parts = append(parts, plain(w.Problem))
	}
	if w.Last != nil {
		text := string(w.Last.Decision)
		if w.Last.Reason != "" {
			text += ": " + plain(w.Last.Reason)
		}
		parts = append(parts, plain(text))
		if strings.HasPrefix(w.Last.Result, "failed") {
			parts = append(parts, plain(w.Last.Result))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "has decided nothing yet")
	}
	r.told = strings.Join(parts, " "+dot+" ")
	return r
}

func (r *watchdogRow) Key() string { return r.name }

// why is why it stands so: the call, what is wrong, else what was decided last, and when.
func (r *watchdogRow) why(now time.Time) string {
	j := r.dog.Last
	if j == nil || r.dog.Calls() || r.dog.Degraded != "" || r.dog.Problem != "" {
		return r.told
	}
	return plain(string(j.Decision)) + " " + age(now.Sub(j.At)) + " ago" + strings.TrimPrefix(r.told, plain(string(j.Decision)))
}

// attention reports whether a person should look at it.
func (r *watchdogRow) attention() bool { return r.dog.Ill() }

// beats says when it looks next, or who judges now.
func (r *watchdogRow) beats(now time.Time) outlook {
	switch t, next := r.dog.Triaged, r.dog.Next; {
	case t != nil:
		by := plain(r.dog.Triage)
		if by == "" {
			by = "triage"
		}
		return outlook{by + " judges for " + age(now.Sub(t.Since)), "judged " + age(now.Sub(t.Since))}
	case next == nil:
		return outlook{}
	case !next.After(now):
		return outlook{"beats now", "now"}
	default:
		in := left(next.Sub(now))
		return outlook{"beats in " + in, in}
	}
}

// heart says how old the heartbeat is and when that is worse.
func (r *watchdogRow) heart(now time.Time) outlook {
	w := r.dog
	if w.Heartbeat == nil {
		return same("none")
	}
	old := now.Sub(*w.Heartbeat)
	text := age(old)
	switch {
	case w.Suspended:
	case w.Freshness == city.Fresh && w.Fresh > old:
		return outlook{text + ", stale in " + left(w.Fresh-old), text}
	case w.Freshness == city.Stale && w.VeryStale > old:
		return outlook{text + ", very stale in " + left(w.VeryStale-old), text}
	}
	return same(text)
}

// watchdogs are the city's watchdogs, those that need a person first, and the cursor among them.
type watchdogs struct {
	table[watchdogRow, *watchdogRow]
}

// update takes a snapshot's watchdogs. With still set the known ones keep their order.
func (d *watchdogs) update(all []city.Watchdog, dot string, still bool) {
	d.version++
	rows := make([]watchdogRow, len(all))
	for i := range all {
		rows[i] = newWatchdogRow(&all[i], dot)
	}
	d.rows = arrange(rows, d.rows, (*watchdogRow).Key, watchdogRank, still)
}

// watchdogRank orders watchdogs: who calls first, then who is ill, then by name.
func watchdogRank(a, b *watchdogRow) int {
	need := func(r *watchdogRow) int {
		switch {
		case r.dog.Calls():
			return 0
		case r.dog.Ill():
			return 1
		}
		return 2
	}
	if n := need(a) - need(b); n != 0 {
		return n
	}
	return city.CompareNames(a.name, b.name)
}

// guards reports whether Watchdogs is there to be seen: the city has some, or somebody looks for them.
func (m *model) guards() bool { return len(m.watchdogs.rows) > 0 || m.focus == panelWatchdogs }

// calling are those that call for a person, and nobody has answered.
func (d *watchdogs) calling() []*watchdogRow {
	var rows []*watchdogRow
	for i := range d.rows {
		if d.rows[i].dog.Calls() {
			rows = append(rows, &d.rows[i])
		}
	}
	return rows
}

// ills is what the title says of them: "1 calling, 1 ill".
func (d *watchdogs) ills() (text string, alert bool) {
	calling, ill := len(d.calling()), 0
	for i := range d.rows {
		if d.rows[i].attention() {
			ill++
		}
	}
	var parts []string
	if calling > 0 {
		parts = append(parts, fmt.Sprintf("%d calling", calling))
	}
	if ill > calling {
		parts = append(parts, fmt.Sprintf("%d ill", ill-calling))
	}
	return strings.Join(parts, ", "), ill > 0
}

// problems is what the header says of them: every call, and who is not judged as declared.
func (d *watchdogs) problems(k *registry, writable bool) []string {
	var lines []string
	for _, r := range d.calling() {
		how := k.keyOf("focus.watchdogs") + " shows it"
		if writable {
			how += ", " + k.keyOf(releaseID) + " there answers"
		}
		lines = append(lines, callLine(r.dog, " ("+how+")"))
	}
	for i := range d.rows {
		if r := &d.rows[i]; r.dog.Degraded != "" && !r.dog.Suspended && !r.dog.Calls() {
			lines = append(lines, "watchdog "+r.shown+" is degraded: "+plain(r.dog.Degraded))
		}
	}
	return lines
}

// callBadge says how many watchdogs call, "" = none.
func (m *model) callBadge(w int) string {
	n := len(m.watchdogs.calling())
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.look.glyph.Alert + number(n)
	}
	return fmt.Sprintf("%s %d calling", m.look.glyph.Alert, n)
}

// over are the watchdogs of an agent.
func (m *model) over(agent string) []*watchdogRow {
	var rows []*watchdogRow
	for i := range m.watchdogs.rows {
		if m.watchdogs.rows[i].watches == agent {
			rows = append(rows, &m.watchdogs.rows[i])
		}
	}
	return rows
}

// heed has the agents say for whom a watchdog calls.
func (m *model) heed() {
	for _, w := range m.watchdogs.calling() {
		if r := m.agents.find(w.watches); r != nil {
			r.heed(w.dog)
		}
	}
}

// heed has an agent's row say that a watchdog calls for a person because of it.
func (r *agentRow) heed(w *city.Watchdog) {
	r.called = true
	r.why = strings.TrimSuffix("watchdog "+plain(w.Name)+" calls: "+plain(w.Escalated.Message)+"; "+r.why, "; ")
}

// callLine is a watchdog's call in a line, with how it is answered.
func callLine(w *city.Watchdog, how string) string {
	return "watchdog " + plain(w.Name) + " calls " + plain(w.Escalated.To) + how + ": " + plain(w.Escalated.Message)
}

// followWatched selects the agent that the watchdog under the cursor looks after: the pane is about it.
func (m *model) followWatched() {
	if r := m.watchdogs.under(); r != nil && m.focus == panelWatchdogs && r.watches != m.agents.chosen && m.agents.find(r.watches) != nil {
		m.choose(r.watches)
	}
}

// guarded is the agent that the watchdog under the cursor looks after, nil if it is not there.
func (m *model) guarded() *agentRow {
	if r := m.watchdogs.under(); r != nil {
		return m.agents.find(r.watches)
	}
	return nil
}

// watchdogSign is the glyph and the token of how a watchdog stands; the word stands beside it.
func watchdogSign(l *look, word string) (string, themes.Token) {
	switch word {
	case city.WatchdogCalls:
		return l.glyph.Alert, themes.Bad
	case string(city.Dead):
		return l.glyph.Failed, themes.Bad
	case string(city.VeryStale):
		return l.glyph.Backoff, themes.Bad
	case string(city.Stale):
		return l.glyph.Waiting, themes.Warn
	case string(city.Fresh):
		return l.glyph.Running, themes.Good
	}
	return l.glyph.Suspended, themes.Off
}

// whoJudges is who decides its next beat, in a word or two.
func (r *watchdogRow) whoJudges() string {
	if r.dog.Mode == city.ByTriage {
		return strings.TrimSpace("triage " + plain(r.dog.Triage))
	}
	return plain(string(r.dog.Mode))
}
