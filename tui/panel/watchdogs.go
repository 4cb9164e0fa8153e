package panel

import (
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// WatchdogRow is a watchdog ready to be drawn. Shown, Status and fixedReason are sanitized.
type WatchdogRow struct {
	Name        string
	Shown       string
	watches     string
	Status      string
	Info        *city.Watchdog
	fixedReason string
}

func newWatchdogRow(w *city.Watchdog, dot string) WatchdogRow {
	r := WatchdogRow{Name: w.Name, Shown: widget.Plain(w.Name), watches: w.Watches,
		Status: widget.Plain(w.StatusWord()), Info: w}
	var parts []string
	if w.IsEscalated() {
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
		parts = append(parts, "no decision yet")
	}
	r.fixedReason = strings.Join(parts, " "+dot+" ")
	return r
}

func (r *WatchdogRow) Key() string { return r.Name }

// Why returns the reason for the watchdog's condition.
func (r *WatchdogRow) Why(now time.Time) string {
	j := r.Info.Last
	if j == nil || r.Info.IsEscalated() || r.Info.Degraded != "" || r.Info.Problem != "" {
		return r.fixedReason
	}
	return widget.Plain(string(j.Decision)) + " " + widget.Ago(j.At, now) +
		strings.TrimPrefix(r.fixedReason, widget.Plain(string(j.Decision)))
}

// Attention reports whether the watchdog needs attention.
func (r *WatchdogRow) Attention() bool { return r.Info.NeedsAttention() }

func (r *WatchdogRow) nextCheck(now time.Time) widget.Phrase {
	switch t, next := r.Info.Triaged, r.Info.Next; {
	case t != nil:
		by := widget.Plain(r.Info.Triage)
		if by == "" {
			by = "triage"
		}
		age := widget.Since(t.Since, now)
		return widget.Phrase{Full: by + " has been checking for " + age, Brief: "checking " + age}
	case next == nil:
		return widget.Phrase{}
	case !next.After(now):
		return widget.Phrase{Full: "check now", Brief: "now"}
	default:
		in := widget.Until(*next, now)
		return widget.Phrase{Full: "check in " + in, Brief: in}
	}
}

// BeatAge returns the age of the heartbeat, and when it becomes stale.
func (r *WatchdogRow) BeatAge(now time.Time) widget.Phrase {
	w := r.Info
	switch {
	case w.Freshness == city.Unchecked:
		return widget.SamePhrase("unknown")
	case w.Heartbeat == nil:
		return widget.SamePhrase("none")
	}
	old := now.Sub(*w.Heartbeat)
	text := widget.Age(old)
	switch {
	case w.Suspended:
	case w.Freshness == city.Fresh && w.Fresh > old:
		return widget.Phrase{Full: text + ", stale in " +
			widget.Until(w.Heartbeat.Add(w.Fresh), now),
			Brief: text}
	case w.Freshness == city.Stale && w.VeryStale > old:
		return widget.Phrase{Full: text + ", very stale in " +
			widget.Until(w.Heartbeat.Add(w.VeryStale), now),
			Brief: text}
	}
	return widget.SamePhrase(text)
}

func (r *WatchdogRow) urgency() int {
	switch {
	case r.Info.IsEscalated():
		return 2
	case r.Info.NeedsAttention():
		return 1
	}
	return 0
}

// Calling returns the watchdogs with an unacknowledged call.
func (d *Watchdogs) Calling() []*WatchdogRow {
	return d.Where(func(r *WatchdogRow) bool { return r.Info.IsEscalated() })
}

func (d *Watchdogs) issues(*Env) (text string, alert bool) {
	calling, ill := len(d.Calling()), len(d.Where((*WatchdogRow).Attention))
	parts := widget.AppendCount(nil, calling, "calling")
	parts = widget.AppendCount(parts, max(0, ill-calling), "failing")
	return strings.Join(parts, ", "), ill > 0
}

// AddCall adds a watchdog's call to the agent's row.
func (r *AgentRow) AddCall(w *city.Watchdog) {
	r.HasCall = true
	r.Why = strings.TrimSuffix("watchdog "+widget.Plain(w.Name)+" calls: "+
		widget.Plain(w.Escalated.Message)+"; "+r.Why, "; ")
}

// CallLine returns a watchdog's call on one line.
func CallLine(w *city.Watchdog) string {
	return "watchdog " + widget.Plain(w.Name) + " calls " + widget.Plain(w.Escalated.To) +
		": " + widget.Plain(w.Escalated.Message)
}

func watchdogSign(l *widget.Styles, word string) (string, themes.Token) {
	switch word {
	case city.WatchdogEscalated:
		return l.Glyphs.Alert, themes.Bad
	case string(city.Dead):
		return l.Glyphs.Failed, themes.Bad
	case string(city.VeryStale):
		return l.Glyphs.Backoff, themes.Bad
	case string(city.Stale):
		return l.Glyphs.Waiting, themes.Warn
	case string(city.Fresh):
		return l.Glyphs.Running, themes.Good
	case string(city.Unchecked):
		return l.Glyphs.Unknown, themes.Off
	}
	return l.Glyphs.Suspended, themes.Off
}

func (r *WatchdogRow) decider() string {
	if r.Info.Mode == city.ByTriage {
		return strings.TrimSpace("triage " + widget.Plain(r.Info.Triage))
	}
	return widget.Plain(string(r.Info.Mode))
}

// Watching returns the watchdogs that watch an agent.
func (d *Watchdogs) Watching(agent string) []*WatchdogRow {
	return d.Where(func(r *WatchdogRow) bool { return r.watches == agent })
}
