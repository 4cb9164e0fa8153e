package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// letter is a text that this room has sent to one agent.
type letter struct {
	action int // that sent it
	agent  string
	text   string // all of it: a city tells only the beginning
	send   city.Send
	life   time.Time // of the controller that has it
	seen   bool      // the city has told of it
	gone   bool      // it tells nothing of it any more
	back   bool      // somebody here takes it back
}

// maxLetters bounds, in bytes, the texts whose letters are kept.
const maxLetters = 4 << 20

// post takes in what was sent just now, to be followed.
func post(m *model, r result) {
	if m.snap == nil {
		return
	}
	for _, l := range r.letters {
		l.action, l.life = r.id, m.snap.Started
		m.letters = append(m.letters, l)
	}
	size, from := 0, len(m.letters)
	for from > 0 && size+len(m.letters[from-1].text) <= maxLetters {
		from--
		size += len(m.letters[from].text)
	}
	m.letters = m.letters[min(from, len(m.letters)-len(r.letters)):]
	m.followed = r.id
	tellStages(m)
	readLetters(m)
}

// wholeOf is all of a text that waits, false if only its beginning is known.
func wholeOf(m *model, agent string, s *city.Send) (string, bool) {
	if s.Lines <= 1 && s.Bytes == len(s.Text) {
		return s.Text, true
	}
	for i := range m.letters {
		if l := &m.letters[i]; l.agent == agent && l.send.ID == s.ID {
			return l.text, true
		}
	}
	return "", false
}

// expectBack is told of texts that are being taken back: that they are not typed is no news.
func expectBack(m *model, commands []city.Command) {
	for _, c := range commands {
		for i := range m.letters {
			if u, ok := c.(city.Unsend); ok && u.Agent == m.letters[i].agent &&
				u.ID == m.letters[i].send.ID {
				m.letters[i].back = true
			}
		}
	}
}

// readLetters learns from the city how far they have come, and tells of it.
func readLetters(m *model) {
	if len(m.letters) == 0 || m.snap == nil {
		return
	}
	told := false
	for i := range m.letters {
		l := &m.letters[i]
		if !l.read(m.snap) {
			continue
		}
		told = told || l.action == m.followed && !l.back
		if l.send.Stage == city.GivenUp && !l.back {
			complain(m, widget.Plain(l.agent)+": "+l.said())
		}
	}
	if told {
		tellStages(m)
	}
	m.letters = slices.DeleteFunc(m.letters, func(l letter) bool { return l.gone })
}

// read takes in what a snapshot says of a letter; it reports whether that is news.
func (l *letter) read(s *city.Snapshot) bool {
	a, ok := s.Agent(l.agent)
	if ok = ok && s.Started.Equal(l.life); ok { // another controller counts anew
		for _, now := range a.Sends {
			if now.ID != l.send.ID || now.Since.Before(l.send.Since) {
				continue
			}
			changed := now.Stage != l.send.Stage || now.Why != l.send.Why
			l.send, l.seen = now, true
			return changed
		}
	}
	l.gone = l.seen || !ok
	return l.gone && !l.send.Stage.Over()
}

// said is how far it has come, in words.
func (l *letter) said() string {
	switch {
	case l.gone && !l.send.Stage.Over():
		return "waits no longer"
	case l.send.Why != "":
		return widget.Plain(string(l.send.Stage)) + ": " + widget.Plain(l.send.Why)
	}
	return widget.Plain(string(l.send.Stage))
}

// tellStages puts into the status line how far the letters have come that it follows, unless it tells of something
// newer.
func tellStages(m *model) {
	var all []*letter
	var each []string
	token := themes.Good
	waits := false
	for i := range m.letters {
		l := &m.letters[i]
		if l.action != m.followed {
			continue
		}
		all = append(all, l)
		each = append(each, widget.Lead(widget.Plain(l.agent)+": "+l.said()))
		if !l.send.Stage.Over() && !l.gone {
			token = themes.Busy
			waits = waits || l.send.Stage == city.Queued
		}
	}
	text := stagesText(all)
	if k := m.keys.KeyNow(unsendID); waits && k != "" {
		text += " (" + k + " takes it back)"
	}
	if text = widget.Lead(text); len(all) < 2 {
		each = nil
	}
	record(m, message{id: m.followed, text: text, token: token, each: each})
	if s := &m.status; s.id == m.followed || !s.failed && !s.pending && m.now.Sub(s.since) > fade {
		m.status = status{id: m.followed, text: text, token: token, since: m.now}
	}
}

// stagesText says how far texts have come: each of one, how many of several.
func stagesText(all []*letter) string {
	if len(all) == 1 {
		return widget.Plain(all[0].agent) + ": " + all[0].said()
	}
	var parts []string
	for _, stage := range []city.Stage{city.Acknowledged, city.Submitted, city.Typing, city.Queued,
		city.GivenUp} {
		n, why := 0, ""
		for _, l := range all {
			if l.send.Stage != stage || l.gone && !stage.Over() {
				continue
			}
			if n++; why == "" {
				why = widget.Plain(l.send.Why)
			}
		}
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, stage)
		if why != "" {
			part += ": " + why
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
