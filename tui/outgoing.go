package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// followedText is a text that this room has sent to one agent.
type followedText struct {
	feed.Letter
	action int       // ID of the action that sent it
	life   time.Time // start time of the controller that queued it
	seen   bool      // a snapshot has contained it
	gone   bool      // newer snapshots no longer contain it
	back   bool      // this user is taking it back
}

// maxFollowed bounds the size of the followed texts, in bytes.
const maxFollowed = 4 << 20

// post starts to follow texts that were just sent.
func post(m *model, r feed.Result) {
	if m.snap == nil {
		return
	}
	for _, l := range r.Letters {
		m.following = append(m.following, followedText{Letter: l, action: r.ID,
			life: m.snap.Started})
	}
	size, from := 0, len(m.following)
	for from > 0 && size+len(m.following[from-1].Text) <= maxFollowed {
		from--
		size += len(m.following[from].Text)
	}
	m.following = m.following[min(from, len(m.following)-len(r.Letters)):]
	m.followed = r.ID
	tellStages(m)
	readFollowed(m)
}

// wholeOf returns a waiting text in full, or false if only its beginning is known.
func wholeOf(m *model, agent string, s *city.Send) (string, bool) {
	if s.Lines <= 1 && s.Bytes == len(s.Text) {
		return s.Text, true
	}
	for i := range m.following {
		if l := &m.following[i]; l.Agent == agent && l.Send.ID == s.ID {
			return l.Text, true
		}
	}
	return "", false
}

// expectBack marks texts that are being taken back, so that their removal is not reported as a failure.
func expectBack(m *model, commands []city.Command) {
	for _, c := range commands {
		for i := range m.following {
			if u, ok := c.(city.Unsend); ok && u.Agent == m.following[i].Agent &&
				u.ID == m.following[i].Send.ID {
				m.following[i].back = true
			}
		}
	}
}

// readFollowed updates the followed texts from the snapshot and reports changes in the status line.
func readFollowed(m *model) {
	if len(m.following) == 0 || m.snap == nil {
		return
	}
	told := false
	for i := range m.following {
		l := &m.following[i]
		if !l.read(m.snap) {
			continue
		}
		told = told || l.action == m.followed && !l.back
		if l.Send.Stage == city.GivenUp && !l.back {
			complain(m, widget.Plain(l.Agent)+": "+l.said())
		}
	}
	if told {
		tellStages(m)
	}
	m.following = slices.DeleteFunc(m.following, func(l followedText) bool { return l.gone })
}

// read updates a text from a snapshot; it reports whether its state changed.
func (l *followedText) read(s *city.Snapshot) bool {
	a, ok := s.Agent(l.Agent)
	if ok = ok && s.Started.Equal(l.life); ok { // IDs of another controller are unrelated
		for _, now := range a.Sends {
			if now.ID != l.Send.ID || now.Since.Before(l.Send.Since) {
				continue
			}
			changed := now.Stage != l.Send.Stage || now.Why != l.Send.Why
			l.Send, l.seen = now, true
			return changed
		}
	}
	l.gone = l.seen || !ok
	return l.gone && !l.Send.Stage.Over()
}

// said describes the state of the text.
func (l *followedText) said() string {
	switch {
	case l.gone && !l.Send.Stage.Over():
		return "no longer waiting"
	case l.Send.Why != "":
		return widget.Plain(string(l.Send.Stage)) + ": " + widget.Plain(l.Send.Why)
	}
	return widget.Plain(string(l.Send.Stage))
}

// tellStages shows the state of the followed texts in the status line, unless it shows something newer.
func tellStages(m *model) {
	var all []*followedText
	var each []string
	token := themes.Good
	waits := false
	for i := range m.following {
		l := &m.following[i]
		if l.action != m.followed {
			continue
		}
		all = append(all, l)
		each = append(each, widget.Lead(widget.Plain(l.Agent)+": "+l.said()))
		if !l.Send.Stage.Over() && !l.gone {
			token = themes.Busy
			waits = waits || l.Send.Stage == city.Queued
		}
	}
	text := stagesText(all)
	if k := m.keys.KeyNow(unsendID); waits && k != "" {
		text += " (" + k + " cancels it)"
	}
	if text = widget.Lead(text); len(all) < 2 {
		each = nil
	}
	record(m, details.Message{ID: m.followed, Text: text, Token: token, Each: each})
	if s := &m.status; s.id == m.followed || !s.failed && !s.pending && m.now.Sub(s.since) > fade {
		m.status = status{id: m.followed, text: text, token: token, since: m.now}
	}
}

// stagesText describes the states of texts: the state of a single text, or counts of several texts.
func stagesText(all []*followedText) string {
	if len(all) == 1 {
		return widget.Plain(all[0].Agent) + ": " + all[0].said()
	}
	var parts []string
	for _, stage := range []city.Stage{city.Acknowledged, city.Submitted, city.Typing, city.Queued,
		city.GivenUp} {
		n, why := 0, ""
		for _, l := range all {
			if l.Send.Stage != stage || l.gone && !stage.Over() {
				continue
			}
			if n++; why == "" {
				why = widget.Plain(l.Send.Why)
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
