package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
)

// headPart is a piece of the header.
type headPart struct {
	text  string
	token themes.Token
	n     int
}

// header says where one is, how the city is, and whether its loop turns.
func (m *model) header(w int) string {
	l := line{look: &m.look}
	dot := " " + m.look.glyph.Dot + " "
	l.add(themes.Title, " "+cut(m.cityName(), w/3, m.look.glyph.More))
	if m.snap != nil && m.snap.Suspended {
		l.add(themes.Warn, dot+"suspended")
	}
	end := m.clockText()
	if w < 50 {
		end = ""
	}
	mode := themes.Dim
	if m.mode == ReadOnly {
		mode = themes.Warn
	}
	room := w - l.used - width(end) - 4
	if host := m.where(); host != "" && w >= 100 {
		l.add(themes.Dim, dot+host)
	}
	if text := dot + m.mode.String(); room > width(text)+14 {
		l.add(mode, text)
	}
	counts := m.countParts(w - l.used - width(end) - 5)
	if len(counts) == 0 && m.snap != nil && len(m.roster.rows) > 0 {
		end = m.now.Format("15:04")
		counts = m.countParts(w - l.used - width(end) - 3)
	}
	l.space(w - l.used - partsWidth(counts) - width(end) - 4)
	for _, c := range counts {
		l.add(c.token, c.text)
	}
	l.space(w - l.used - width(end) - 1)
	loop := themes.Dim
	if m.stalled() {
		loop = themes.Bad
	}
	l.add(loop, end)
	return crop(l.close(w), w)
}

func (m *model) where() string {
	if m.snap == nil {
		return ""
	}
	return plain(m.snap.Host)
}

func partsWidth(parts []headPart) int {
	n := 0
	for _, p := range parts {
		n += width(p.text)
	}
	return n
}

// countParts are the agents by state in at most w columns: who runs, then those that need a person; what does not fit
// is counted together.
func (m *model) countParts(w int) []headPart {
	if m.snap == nil {
		return nil
	}
	n := m.snap.Count()
	order := append([]city.State{city.Running}, city.States[:]...)
	var parts []headPart
	for i, s := range order {
		if n[s] > 0 && (i == 0 || s != city.Running) {
			_, token := m.look.sign(s)
			parts = append(parts, headPart{fmt.Sprintf("  %d %s", n[s], s), token, n[s]})
		}
	}
	known := 0
	for _, p := range parts {
		known += p.n
	}
	if n := len(m.snap.Agents) - known; n > 0 {
		parts = append(parts, headPart{fmt.Sprintf("  %d in states unknown to this version", n), themes.Bad, n})
	}
	others := 0
	for i := len(parts) - 1; i >= 0; i-- {
		rest := headPart{"  " + count(others, "other"), themes.Dim, others}
		if others == 0 {
			rest.text = ""
		}
		if partsWidth(parts[:i+1])+width(rest.text) <= w {
			if others > 0 {
				return append(parts[:i+1], rest)
			}
			return parts
		}
		others += parts[i].n
	}
	return nil
}

// clockText is how fresh the loop is, and the time.
func (m *model) clockText() string {
	at := m.now.Format("15:04:05")
	if m.calm {
		at = m.now.Format("15:04")
	}
	if m.snap == nil || m.w < 60 {
		return at
	}
	turn := m.snap.Patrol.Age(m.now)
	loop := age(turn)
	switch {
	case m.snap.Patrol.Last.IsZero():
		loop = "-"
	case turn < 4*time.Second: // what is younger than the beat and the look at it is fresh
		loop = "ok"
	}
	return "loop " + loop + "  " + at
}

// stalled reports whether the loop has missed its patrol for long.
func (m *model) stalled() bool {
	if m.snap == nil || m.snap.Patrol.Last.IsZero() || m.stopped() {
		return false
	}
	return m.snap.Patrol.Age(m.now) > 3*m.snap.Patrol.Interval+5*time.Second
}

// stopped reports whether the city has ended in good order, as far as is known.
func (m *model) stopped() bool { return m.gone != "" && m.snap != nil && m.snap.ShutDown }

// lost reports whether a city that lives elsewhere has ended or cannot be heard: nothing can be done to it from here.
func (m *model) lost() bool { return m.gone != "" && m.mode != Hosting }

// problems are the things about the whole city that somebody should know, the worst first. One may have several lines.
func (m *model) problems() []string {
	var p []string
	switch {
	case m.stopped():
		p = append(p, "the city was stopped; what is shown is the last that was heard of it")
	case m.gone != "":
		p = append(p, "the city cannot be heard: "+m.gone+"; what is shown is old")
	}
	if m.snap == nil {
		return p
	}
	s := m.snap
	if s.ShutDown && !m.stopped() {
		p = append(p, "the city is shutting down")
	}
	if m.stalled() {
		p = append(p, "the loop has not turned for "+age(s.Patrol.Age(m.now)))
	}
	if s.Config.Rejected != "" {
		p = append(p, "config refused, the earlier one stays in force: "+severally(s.Config.Rejected))
	}
	if h := s.Config.Held; h != nil {
		how := ""
		if m.mode != ReadOnly {
			how = "; C shows the plan"
		}
		p = append(p, "configuration held: "+removes(h)+how)
	}
	if ills := m.automations.problem(); ills != "" {
		p = append(p, ills)
	}
	for _, d := range s.Degraded {
		p = append(p, severally(d))
	}
	for _, d := range s.Config.Warnings {
		p = append(p, severally(d))
	}
	return p
}

// severally is a text of safe lines.
func severally(s string) string { return strings.Join(plainLines(s), "\n") }

// problemLines shows up to n problems; the last line says how many more there are.
func (m *model) problemLines(w, n int) []string {
	all := m.problems()
	var lines []string
	for i := range n {
		l := line{look: &m.look}
		more := ""
		if i == n-1 && len(all) > n {
			more = fmt.Sprintf("  and %d more  c shows all", len(all)-n)
		} else if strings.Contains(all[i], "\n") || width(all[i]) > w-4 {
			more = "  c shows all"
		}
		l.add(themes.Bad, " "+m.look.glyph.Alert+" ")
		l.add(themes.Warn, cutLead(all[i], w-l.used-width(more)-1, m.look.glyph.More))
		l.space(w - l.used - width(more) - 1)
		l.add(themes.Dim, more)
		lines = append(lines, crop(l.close(w), w))
	}
	return lines
}

// summary is the city in one line.
func (m *model) summary() string {
	parts := []string{m.cityName()}
	for _, p := range m.countParts(m.w) {
		parts = append(parts, strings.TrimSpace(p.text))
	}
	if n := len(m.problems()); n > 0 {
		parts = append(parts, count(n, "problem"))
	}
	return strings.Join(parts, " "+m.look.glyph.Dot+" ")
}
