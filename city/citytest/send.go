package citytest

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"gcity/city"
)

// draft is the reason why a text waits.
const draft = "a user's draft is on its line"

// typedBy processes the input of a viewer: a draft, ended by Enter or a key that deletes it. f.mu is held.
func (f *Fake) typedBy(s *screen, p []byte) {
	if end := bytes.LastIndexAny(p, "\r\n\x03\x04\x15\x1b"); end >= 0 {
		s.draft, p = 0, p[end+1:]
	}
	s.draft += len(p)
	if s.draft > 0 || len(s.queue) == 0 {
		return
	}
	queue := s.queue
	s.queue = nil
	for _, c := range queue {
		f.typeIn(s, []byte(c.Text+"\r"))
	}
	f.edit(func(snap *city.Snapshot) {
		if a, ok := snap.Agent(queue[0].Agent); ok {
			a.Sends = nil
		}
	})
}

// nudge types a text, or queues it while a viewer's draft is on the line. The snapshot shows only queued texts.
func (f *Fake) nudge(c city.Nudge) (city.Receipt, error) {
	s, err := f.running(c.Agent)
	if err != nil {
		return city.Receipt{}, err
	}
	f.texts++
	first, _, _ := strings.Cut(c.Text, "\n")
	send := city.Send{
		ID: f.texts, Text: first[:min(len(first), city.MaxSendShown)],
		Lines: 1 + strings.Count(c.Text, "\n"), Bytes: len(c.Text),
		Stage: city.Submitted, Since: time.Now(),
	}
	if s.draft > 0 && !c.Now {
		if len(s.queue) >= city.MaxSends {
			return city.Receipt{}, refuse(city.Unavailable, "%d texts are queued for "+
				"agent %s already", len(s.queue), c.Agent)
		}
		send.Stage, send.Why = city.Queued, draft
		s.queue = append(s.queue, c)
		f.edit(func(snap *city.Snapshot) {
			a, _ := snap.Agent(c.Agent)
			a.Sends = append(slices.Clone(a.Sends), send)
		})
		return city.Receipt{Message: "queued for " + c.Agent + ": " + draft, Send: &send}, nil
	}
	r, err := f.typing(c, c.Text+"\r")
	f.typedBy(s, []byte("\r"))
	r.Send = &send
	return r, err
}

// unsend removes queued texts.
func (f *Fake) unsend(c city.Unsend) (city.Receipt, error) {
	a, _ := f.snap.Agent(c.Agent)
	s := f.screens[c.Agent]
	var left []city.Send
	var queue []city.Nudge
	for i, send := range a.Sends {
		if c.ID != 0 && send.ID != c.ID {
			left, queue = append(left, send), append(queue, s.queue[i])
		}
	}
	if len(left) == len(a.Sends) {
		return city.Receipt{}, refuse(city.Conflict, "no text is queued for agent %s",
			c.Agent)
	}
	s.queue = queue
	return f.prove(c, func(snap *city.Snapshot) {
		a, _ := snap.Agent(c.Agent)
		a.Sends = left
	}), nil
}
