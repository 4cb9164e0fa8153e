package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// textDelivery simulates the delivery of texts, and checks that none is lost, repeated or out of order.
type textDelivery struct {
	drafts map[string]time.Time
	sent   map[uint64]city.Nudge
	typed  map[uint64]bool
	owed   map[uint64]bool      // texts whose end is not in the log yet
	mute   string               // reason why no text can be typed
	asked  map[uint64]bool      // commands that must be answered
	order  map[string][2]uint64 // for each agent, IDs of the last typed texts: queued and immediate
}

func newTextDelivery() textDelivery {
	return textDelivery{
		drafts: map[string]time.Time{}, sent: map[uint64]city.Nudge{}, typed: map[uint64]bool{},
		owed:  map[uint64]bool{},
		asked: map[uint64]bool{}, order: map[string][2]uint64{},
	}
}

func (w *world) sending(in effect.Input) {
	c, ok := in.(effect.Command)
	if n, is := c.Cmd.(city.Nudge); ok && is {
		w.delivery.sent[w.m.messages.Sent+1] = n
		w.delivery.asked[c.ID] = true
	}
	if _, is := c.Cmd.(city.Unsend); ok && is {
		w.delivery.asked[c.ID] = true
	}
}

func (w *world) draft(name string, on bool) {
	if s := w.alive[name]; s != nil {
		s.TypedAt = w.now
	}
	if on {
		w.delivery.drafts[name] = w.now
		return
	}
	delete(w.delivery.drafts, name)
}

func (w *world) send(f effect.Send) effect.Input {
	in := effect.Sent{Agent: f.Agent, ID: f.ID}
	s := w.alive[f.Agent]
	_, draft := w.delivery.drafts[f.Agent]
	switch {
	case s == nil || s.ID != f.Life:
		in.Held, in.Wait = city.HoldEnded, effect.SendAgain
		return in
	case f.Polite && draft:
		in.Held, in.Wait, in.Disturbed = city.HoldDraft, effect.SendAgain, true
		return in
	case f.Polite && !s.TypedAt.IsZero() && w.now.Sub(s.TypedAt) < effect.TypingPause:
		in.Held, in.Wait, in.Disturbed = city.HoldTyping, effect.TypingPause-w.now.Sub(s.TypedAt),
			true
		return in
	case w.delivery.mute != "":
		in.Err = &session.LackError{Ability: "type text", Why: w.delivery.mute}
		return in
	case w.fails["type:"+f.Agent] != "":
		in.Err = fmt.Errorf("%s", w.fails["type:"+f.Agent])
		return in
	}
	dogs := f.Text == dogNudge || f.Text == dogWake // texts of watchdogs, which belong to no command
	if c := w.delivery.sent[f.ID]; !dogs && (c.Text != f.Text || c.Agent != f.Agent ||
		!f.Polite && !c.Now) {
		w.breaks("text %d: sent %+v, typed as %+v", f.ID, c, f)
	}
	if w.delivery.typed[f.ID] {
		w.breaks("text %d was typed twice", f.ID)
	}
	w.delivery.typed[f.ID] = true
	kind := 0
	if !f.Polite {
		kind = 1
	}
	last := w.delivery.order[f.Agent]
	if last[kind] > f.ID {
		w.breaks("text %d was typed into %s after text %d", f.ID, f.Agent, last[kind])
	}
	last[kind] = f.ID
	w.delivery.order[f.Agent] = last
	delete(w.delivery.drafts, f.Agent) // Send submits the draft together with the text
	s.Output += uint64(len(f.Text))
	in.Output = s.Output
	w.note("typed into %s: %q", f.Agent, f.Text)
	if w.lost { // the exact amount of output is unknown
		in.Output = math.MaxUint64
	}
	return in
}

func (w *world) closed(id uint64) bool {
	return slices.ContainsFunc(w.events, func(e events.Event) bool {
		return strings.HasPrefix(e.Type, events.AgentNudged[:len("agent.nudge")]) && textOf(e) == id
	})
}

func textOf(e events.Event) uint64 {
	var about struct{ ID uint64 }
	if json.Unmarshal(e.Payload, &about) != nil {
		return 0
	}
	return about.ID
}

func (w *world) posted(e events.Event) {
	if e.Type != events.AgentNudged && e.Type != events.AgentNudgeDropped {
		return
	}
	id := textOf(e)
	if id == 0 || w.delivery.typed[id] != (e.Type == events.AgentNudged) {
		w.breaks("%s: text %d was typed: %t", e.Type, id, w.delivery.typed[id])
	}
	delete(w.delivery.owed, id)
}

func (w *world) showSends() (out []string) {
	for _, a := range w.m.Snapshot(w.now).Agents {
		for _, d := range a.Sends {
			line := fmt.Sprintf("%s: text %d %q (%d lines, %d bytes) is %s since %s", a.Name, d.ID,
				d.Text, d.Lines, d.Bytes, d.Stage, d.Since.Sub(w.begun).Round(time.Millisecond))
			if d.Why != "" {
				line += ": " + d.Why
			}
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		out = append(out, "nothing is sent")
	}
	return out
}

func (w *world) sendSomething(who byte, name string) {
	switch id := uint64(len(w.log))<<8 | 250; who >> 4 % 8 {
	case 0, 1, 2:
		before := w.m.messages.Sent
		w.Step(effect.Command{ID: id, Cmd: city.Nudge{Agent: name,
			Text: strings.Repeat("x\n", int(who%3)) + "end", Now: who>>4%8 == 2}})
		if w.m.messages.Sent > before && !w.closed(w.m.messages.Sent) {
			w.delivery.owed[w.m.messages.Sent] = true
		}
	case 3:
		w.draft(name, true)
	case 4:
		w.draft(name, false)
	case 5:
		w.command(id, city.Unsend{Agent: name, ID: uint64(who % 3)})
	case 6:
		w.stuck["type:"+name] = true
	case 7:
		w.fails["type:"+name] = map[bool]string{true: "it takes nothing"}[who > 200]
	}
}

func (w *world) sentAll() {
	for _, id := range slices.Sorted(maps.Keys(w.delivery.owed)) {
		w.breaks("text %d for %s was lost without an event", id, w.delivery.sent[id].Agent)
	}
	for _, id := range slices.Sorted(maps.Keys(w.delivery.asked)) {
		if _, ok := w.replies[id]; !ok {
			w.breaks("command %d got no reply", id)
		}
	}
	for _, a := range w.m.order {
		if len(a.out.All()) > 0 {
			w.breaks("texts for %s are still queued: %v", a.name, w.showSends())
		}
	}
}
