package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
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
	r := watchdogRow{name: w.Name, shown: widget.Plain(w.Name), watches: w.Watches,
		word: widget.Plain(w.Word()), dog: w}
	var parts []string
	if w.Calls() {
		parts = append(parts, "for "+widget.Plain(w.Escalated.To)+": "+
			widget.Plain(w.Escalated.Message))
	}
	if w.Degraded != "" {
		parts = append(parts, "degraded: "+widget.Plain(w.Degraded))
	}
	if w.Problem != "" {
		parts = append(parts, widget.Plain(w.Problem))
	}
	if w.Last != nil {
		text := string(w.Last.Decision)
		if w.Last.Reason != "" {
			text += ": " + widget.Plain(w.Last.Reason)
		}
		parts = append(parts, widget.Plain(text))
		if strings.HasPrefix(w.Last.Result, "failed") {
			parts = append(parts, widget.Plain(w.Last.Result))
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
	return widget.Plain(string(j.Decision)) + " " + widget.Age(now.Sub(j.At)) + " ago" +
		strings.TrimPrefix(r.told, widget.Plain(string(j.Decision)))
}

// attention reports whether a person should look at it.
func (r *watchdogRow) attention() bool { return r.dog.Ill() }

// beats says when it looks next, or who judges now.
func (r *watchdogRow) beats(now time.Time) widget.Phrase {
	switch t, next := r.dog.Triaged, r.dog.Next; {
	case t != nil:
		by := widget.Plain(r.dog.Triage)
		if by == "" {
			by = "triage"
		}
		return widget.Phrase{Full: by + " judges for " + widget.Age(now.Sub(t.Since)),
			Brief: "judged " + widget.Age(now.Sub(t.Since))}
	case next == nil:
		return widget.Phrase{}
	case !next.After(now):
		return widget.Phrase{Full: "beats now", Brief: "now"}
	default:
		in := widget.Remaining(next.Sub(now))
		return widget.Phrase{Full: "beats in " + in, Brief: in}
	}
}

// heart says how old the heartbeat is and when that is worse.
func (r *watchdogRow) heart(now time.Time) widget.Phrase {
	w := r.dog
	if w.Heartbeat == nil {
		return widget.Same("none")
	}
	old := now.Sub(*w.Heartbeat)
	text := widget.Age(old)
	switch {
	case w.Suspended:
	case w.Freshness == city.Fresh && w.Fresh > old:
		return widget.Phrase{Full: text + ", stale in " + widget.Remaining(w.Fresh-old),
			Brief: text}
	case w.Freshness == city.Stale && w.VeryStale > old:
		return widget.Phrase{Full: text + ", very stale in " + widget.Remaining(w.VeryStale-old),
			Brief: text}
	}
	return widget.Same(text)
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

// calling are those that call for a person, and nobody has answered.
func (d *watchdogs) calling() []*watchdogRow {
	var rows []*watchdogRow
	for i := range d.Rows {
		if d.Rows[i].dog.Calls() {
			rows = append(rows, &d.Rows[i])
		}
	}
	return rows
}

// ills is what the title says of them: "1 calling, 1 ill".
func (d *watchdogs) ills() (text string, alert bool) {
	calling, ill := len(d.calling()), 0
	for i := range d.Rows {
		if d.Rows[i].attention() {
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
func (d *watchdogs) problems(e *env) []string {
	var lines []string
	for _, r := range d.calling() {
		how := e.keyOf("focus.watchdogs") + " shows it"
		if !e.readOnly {
			how += ", " + e.keyOf("agent.release") + " there answers"
		}
		lines = append(lines, callLine(r.dog, " ("+how+")"))
	}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.dog.Degraded != "" && !r.dog.Suspended && !r.dog.Calls() {
			lines = append(lines, "watchdog "+r.shown+" is degraded: "+widget.Plain(r.dog.Degraded))
		}
	}
	return lines
}

// heed has an agent's row say that a watchdog calls for a person because of it.
func (r *agentRow) heed(w *city.Watchdog) {
	r.called = true
	r.why = strings.TrimSuffix("watchdog "+widget.Plain(w.Name)+" calls: "+
		widget.Plain(w.Escalated.Message)+"; "+r.why, "; ")
}

// callLine is a watchdog's call in a line, with how it is answered.
func callLine(w *city.Watchdog, how string) string {
	return "watchdog " + widget.Plain(w.Name) + " calls " + widget.Plain(w.Escalated.To) + how +
		": " + widget.Plain(w.Escalated.Message)
}

// watchdogSign is the glyph and the token of how a watchdog stands; the word stands beside it.
func watchdogSign(l *widget.Styles, word string) (string, themes.Token) {
	switch word {
	case city.WatchdogCalls:
		return l.Glyphs.Alert, themes.Bad
	case string(city.Dead):
		return l.Glyphs.Failed, themes.Bad
	case string(city.VeryStale):
		return l.Glyphs.Backoff, themes.Bad
	case string(city.Stale):
		return l.Glyphs.Waiting, themes.Warn
	case string(city.Fresh):
		return l.Glyphs.Running, themes.Good
	}
	return l.Glyphs.Suspended, themes.Off
}

// whoJudges is who decides its next beat, in a word or two.
func (r *watchdogRow) whoJudges() string {
	if r.dog.Mode == city.ByTriage {
		return strings.TrimSpace("triage " + widget.Plain(r.dog.Triage))
	}
	return widget.Plain(string(r.dog.Mode))
}

// over are the watchdogs of an agent.
func (d *watchdogs) over(agent string) []*watchdogRow {
	var rows []*watchdogRow
	for i := range d.Rows {
		if d.Rows[i].watches == agent {
			rows = append(rows, &d.Rows[i])
		}
	}
	return rows
}
