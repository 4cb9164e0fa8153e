package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/themes"
)

// status is the line that tells how the last action ended.
type status struct {
	id      int // of the action that is waited for
	text    string
	token   themes.Token
	failed  bool // stays until dismissed
	pending bool
	since   time.Time
}

// fade is when a good outcome has been read.
const fade = 20 * time.Second

func (m *model) say(text string) {
	m.status = status{text: plain(text), token: themes.Good, since: m.now}
}

func (m *model) complain(text string) {
	m.status = status{text: plain(text), token: themes.Bad, failed: true, since: m.now}
}

// begin tells that an action is under way and returns the id its result will carry.
func (m *model) begin(text string) int {
	m.actions++
	m.status = status{id: m.actions, text: plain(text), token: themes.Busy, pending: true, since: m.now}
	return m.actions
}

// ended takes a result in. An older action's failure is shown too, its success is not.
func (m *model) ended(r result) {
	if r.id == m.fired.id && len(r.failures) > 0 {
		m.fired = firing{}
	}
	defer m.firedEnded()
	if m.work != nil { // whatever it was, the work may be another
		m.work.stale = true
		m.workChanged()
	}
	if r.id != m.status.id && len(r.failures) == 0 {
		return
	}
	switch {
	case len(r.failures) == 0 && r.total == 1:
		m.say(r.receipts[0])
	case len(r.failures) == 0:
		m.say(fmt.Sprintf("%s: %d ok", r.title, r.total))
	case r.total == 1:
		m.complain(r.failures[0])
	default:
		m.complain(fmt.Sprintf("%s: %d ok, %d failed: %s", r.title, r.total-len(r.failures), len(r.failures),
			strings.Join(r.failures, "; ")))
	}
}

// statusLine is the row above the footer.
func (m *model) statusLine(w int) string {
	l := line{look: &m.look}
	s := &m.status
	if s.text == "" || !s.failed && !s.pending && m.now.Sub(s.since) > fade {
		return l.close(w)
	}
	sign := m.look.glyph.Done
	tail := ""
	switch {
	case s.failed:
		sign, tail = m.look.glyph.Failed, "  esc dismisses"
	case s.pending:
		sign = m.look.glyph.Starting
		if d := m.now.Sub(s.since); d >= 2*time.Second {
			tail = "  " + age(d)
		}
	}
	l.add(s.token, " "+sign+" ")
	room := max(0, w-l.used-width(tail)-1)
	body := themes.Text
	if s.failed {
		body = themes.Bad
	}
	l.add(body, cut(s.text, room, m.look.glyph.More))
	if l.used+width(tail) < w {
		l.add(themes.Dim, tail)
	}
	return l.close(w)
}
