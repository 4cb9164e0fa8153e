package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

// Timeouts of texts for agents.
const (
	SendAnswer  = 2 * time.Second  // until a command reports the state of its text
	draftLimit  = 10 * time.Minute // for a text behind a draft
	sendLimit   = time.Hour        // for any other text
	SendShown   = time.Minute      // how long finished texts are shown
	maxSendOver = 5                // finished texts that are shown
)

// heedAfter is when, after a text was submitted, the agent's output is checked. Later output says little about the
// text.
var heedAfter = [...]time.Duration{time.Second, 3 * time.Second, 8 * time.Second}

// nudge takes a text. deliver decides what happens to it.
func (tx *texts) nudge(now time.Time, id uint64, a *record, c city.Nudge) {
	if len(c.Text) > city.MaxSend {
		tx.m.step.Refuse(id, city.Invalid, fmt.Sprintf("a text of %d bytes is too long, the "+
			"maximum is %d: put it in a file and send the name of the file", len(c.Text),
			city.MaxSend))
		return
	}
	if _, never := tx.outlook(a); never || !a.sess.alive && a.act.op == opNone &&
		a.state == city.Failed {
		tx.m.step.Refuse(id, city.Conflict, noSession(a))
		return
	}
	if a.out == nil {
		a.out = &outbox{}
		at, _ := slices.BinarySearchFunc(tx.mail, a.name, func(a *record, name string) int {
			return strings.Compare(a.name, name)
		})
		tx.mail = slices.Insert(tx.mail, at, a)
	}
	if why := a.out.room(a, len(c.Text)); why != "" {
		tx.m.step.Refuse(id, city.Unavailable, why)
		return
	}
	tx.sent++
	d := &delivery{
		id: tx.sent, text: c.Text, lines: 1 + strings.Count(strings.TrimSuffix(c.Text, "\n"), "\n"),
		bytes: len(c.Text), now: c.Now,
		stage: city.Queued, why: "waiting for its turn", since: now, came: now, asker: id,
		answerBy: now.Add(SendAnswer),
	}
	d.first, _, _ = strings.Cut(c.Text, "\n")
	d.first = strings.ToValidUTF8(d.first[:min(len(d.first), city.MaxSendShown)], "")
	if n := len(a.out.waiting); n > 0 && !d.now {
		d.why = a.out.waiting[n-1].why
	}
	a.out.queue(d, false)
	tx.m.step.Changed = true
}

func noSession(a *record) string {
	return fmt.Sprintf("agent %s has no session: it is %s (%s)", a.name, a.state, a.reason)
}

// outlook returns why nothing can be typed into an agent now, "" if it can, and whether waiting is useless.
func (tx *texts) outlook(a *record) (why string, never bool) {
	switch {
	case tx.m.ending != alive:
		return "the city is being stopped", true
	case a.sess.alive && a.sess.ready && a.act.op == opNone && !a.sess.startUnclear:
		return "", false
	case a.unwanted() || a.want.Suspended != "" || a.want.Problem != "":
		return standing(a), true
	case a.act.op != opNone, a.sess.alive, a.sess.startUnclear:
	case a.rest.staysDown || a.rest.hold == city.Quarantined:
		return standing(a), true
	}
	if a.act.op == opStart || a.state == city.Starting {
		return "it is starting and not ready yet", false
	}
	return standing(a), false
}

// deliver advances the texts of all agents: it types, gives up, and answers commands that have waited long enough.
// It is level-triggered, like decide.
func (tx *texts) deliver(now time.Time) {
	for _, a := range tx.mail {
		tx.deliverTo(now, a)
	}
	tx.mail = slices.DeleteFunc(tx.mail, func(a *record) bool {
		if done := a.out.current == nil && len(a.out.waiting)+len(a.out.over) == 0; done {
			a.out = nil
			return true
		}
		return false
	})
}

func (tx *texts) deliverTo(now time.Time, a *record) {
	b := a.out
	b.over = slices.DeleteFunc(b.over, func(d *delivery) bool {
		old := !now.Before(d.since.Add(SendShown))
		tx.m.step.Changed = tx.m.step.Changed || old
		return old
	})
	tx.heed(now, a)
	if len(b.waiting) > 0 {
		why, never := tx.outlook(a)
		switch {
		case never:
			tx.giveUpAll(now, a, tx.codeOf(), why)
		case why != "":
			b.again, b.disturbed = time.Time{}, time.Time{}
			tx.holdBack(b, why)
		case b.current != nil || len(a.typing) > 0: // the next step continues
		case b.waiting[0].meantFor(a) != "":
			tx.takeBack(now, a, b.waiting[0], b.waiting[0].meantFor(a))
		case !now.Before(b.again) || b.waiting[0].now:
			tx.typeText(now, a)
		}
	}
	tx.expire(now, a)
	tx.report(now, a)
}

// report answers the commands that have waited long enough.
func (tx *texts) report(now time.Time, a *record) {
	for _, d := range a.out.all() {
		if d.asker != 0 && !now.Before(d.answerBy) {
			tx.m.step.Do(effect.Reply{Answer: effect.Answer{ID: d.asker, Receipt: receipt(a, d)}})
			d.asker = 0
		}
	}
}

// codeOf returns the error code of a refusal by the agent or by the whole city.
func (tx *texts) codeOf() city.Code {
	if tx.m.ending != alive {
		return city.Unavailable
	}
	return city.Conflict
}

func receipt(a *record, d *delivery) city.Receipt {
	send := d.draw()
	r := city.Receipt{Send: &send}
	switch d.stage {
	case city.Queued:
		r.Message = fmt.Sprintf("queued for %s: %s; it is typed afterwards (`gcity agent unsend "+
			"%s %d` takes it back)", a.name, d.why, a.name, d.id)
	case city.Typing:
		r.Message = "the terminal of agent " + a.name + " is still accepting the text"
	default:
		r.Message = "agent " + a.name + " accepted the text"
	}
	return r
}

// holdBack sets the reason of all queued texts.
func (tx *texts) holdBack(b *outbox, why string) {
	for _, d := range b.waiting {
		if d.why != why {
			d.why, tx.m.step.Changed = why, true
		}
	}
}

// expire gives up texts that have waited too long.
func (tx *texts) expire(now time.Time, a *record) {
	b := a.out
	for _, d := range slices.Clone(b.waiting) {
		switch {
		case !d.now && !b.disturbed.IsZero() && !now.Before(d.draftEnd(b)):
			tx.giveUp(now, a, d, dropped{city.Conflict,
				fmt.Sprintf("%s, for %s", d.why, draftLimit),
				effect.ActorController})
		case !now.Before(d.came.Add(sendLimit)):
			tx.giveUp(now, a, d, dropped{city.Conflict,
				fmt.Sprintf("it could not be typed within %s: %s", sendLimit, d.why),
				effect.ActorController})
		}
	}
}

// draftEnd returns when drafts have held a text back for too long.
func (d *delivery) draftEnd(b *outbox) time.Time {
	if d.came.After(b.disturbed) {
		return d.came.Add(draftLimit)
	}
	return b.disturbed.Add(draftLimit)
}

// typeText queues the first text at the terminal, in order with keys.
func (tx *texts) typeText(now time.Time, a *record) {
	b := a.out
	d := b.waiting[0]
	b.waiting = slices.Delete(b.waiting, 0, 1)
	b.current = d
	d.life = a.sess.life.ID
	if !d.held { // it shows as held back until it is typed
		d.stage, d.why, d.since, tx.m.step.Changed = city.Typing, "", now, true
	}
	tx.m.commands.enqueue(a, typing{text: d})
}

func (tx *texts) delivered(now time.Time, in effect.Sent) {
	a, ok := tx.m.agents[in.Agent]
	if !ok || a.out == nil || a.out.current == nil || a.out.current.id != in.ID {
		tx.m.commands.typedNext(a)
		return
	}
	b := a.out
	d := b.current
	b.current, tx.m.step.Changed = nil, true
	tx.m.commands.typedNext(a)
	switch {
	case in.Err != nil:
		if errors.Is(in.Err, session.ErrUnsupported) {
			tx.sendBlocked[a.sess.life.Provider] = in.Err.Error()
		}
		tx.giveUp(now, a, d, dropped{city.Unavailable, "its terminal did not accept it: " +
			in.Err.Error(), effect.ActorController})
	case in.Held != "":
		if !d.held {
			d.held, d.stage, d.since = true, city.Queued, d.came
		}
		if len(d.takers) > 0 {
			tx.giveUp(now, a, d, byHand())
			return
		}
		if d.obsolete != "" {
			tx.takeBack(now, a, d, d.obsolete)
			return
		}
		b.queue(d, true)
		b.again = now.Add(in.Wait)
		if in.Disturbed && b.disturbed.IsZero() {
			b.disturbed = now
		}
		tx.holdBack(b, in.Held)
	default:
		b.again, b.disturbed = time.Time{}, time.Time{}
		delete(tx.sendBlocked, a.sess.life.Provider)
		d.stage, d.why, d.since, d.output, d.text = city.Submitted, "", now, in.Output, ""
		tx.keepOver(b, d)
		tx.tooLate(a, d)
		var answers []effect.Answer
		if d.asker != 0 {
			answers = []effect.Answer{{ID: d.asker, Receipt: receipt(a, d)}}
			d.asker = 0
		}
		tx.m.journal.record(a, events.Event{Type: events.AgentNudged, Actor: d.sender(),
			Message: d.String() + " was typed and submitted", Payload: step.Payload(d.payload())},
			answers...)
		tx.typedFor(d)
	}
}

func (tx *texts) keepOver(b *outbox, d *delivery) {
	if len(b.over) == maxSendOver {
		b.over = slices.Delete(b.over, 0, 1)
	}
	b.over = append(b.over, d)
}

// heed checks a few times whether the agent has printed something since a text was submitted.
func (tx *texts) heed(now time.Time, a *record) {
	for _, d := range a.out.over {
		if d.stage != city.Submitted || d.looks > len(heedAfter) {
			continue
		}
		switch {
		case !a.sess.alive || a.sess.life.ID != d.life || d.output == math.MaxUint64:
			// it never will, or the provider cannot say
			d.looks = len(heedAfter) + 1
		case a.sess.life.Output > d.output:
			d.stage, d.since, tx.m.step.Changed = city.Acknowledged, now, true
		case d.looks == len(heedAfter):
		case !now.Before(d.since.Add(heedAfter[d.looks])):
			d.looks++
			tx.m.looks.look()
		}
	}
}

// dropped is why a text is given up, and the actor.
type dropped struct {
	code  city.Code
	why   string
	actor string
}

// giveUp ends a text that was not typed. It answers the waiting command and records an event.
func (tx *texts) giveUp(now time.Time, a *record, d *delivery, g dropped,
	answers ...effect.Answer) {
	b := a.out
	b.waiting = slices.DeleteFunc(b.waiting, func(w *delivery) bool { return w == d })
	if b.current == d {
		b.current = nil
	}
	d.stage, d.why, d.since, d.text = city.GivenUp, g.why, now, ""
	tx.keepOver(b, d)
	tx.m.step.Changed = true
	for _, t := range d.takers {
		answers = append(answers, t.receipt(a, 1))
	}
	d.takers = nil
	if d.asker != 0 {
		answers = append(answers, effect.Answer{ID: d.asker,
			Err: &city.Error{Code: g.code, Message: fmt.Sprintf(
				"the text for agent %s was given up: %s", a.name, g.why)}})
		d.asker = 0
	}
	tx.m.journal.record(a, events.Event{Type: events.AgentNudgeDropped, Actor: g.actor,
		Message: d.String() + " was given up: " + g.why, Payload: step.Payload(d.payload())},
		answers...)
	tx.typedFor(d)
}

func (tx *texts) giveUpAll(now time.Time, a *record, code city.Code, why string) {
	for _, d := range slices.Clone(a.out.waiting) {
		tx.giveUp(now, a, d, dropped{code, why, effect.ActorController})
	}
}

// giveUpMail gives up all texts when the city stops.
func (tx *texts) giveUpMail(now time.Time) {
	for _, a := range tx.mail {
		tx.giveUpAll(now, a, city.Unavailable, "the controller has ended")
		if d := a.out.current; d != nil {
			tx.giveUp(now, a, d, dropped{city.Unavailable,
				"the controller ended while it was being typed, so it may have been typed",
				effect.ActorController})
		}
	}
}

// nextSend returns when a text is due next; zero: only after an input.
func (tx *texts) nextSend(now, t time.Time) time.Time {
	sooner := func(at time.Time) {
		if at.After(now) && (t.IsZero() || at.Before(t)) {
			t = at
		}
	}
	for _, a := range tx.mail {
		b := a.out
		for _, d := range b.over {
			sooner(d.since.Add(SendShown))
			if d.stage == city.Submitted && d.looks < len(heedAfter) {
				sooner(d.since.Add(heedAfter[d.looks]))
			}
		}
		if b.current != nil && b.current.asker != 0 {
			sooner(b.current.answerBy)
		}
		for _, d := range b.waiting {
			sooner(b.again)
			sooner(d.came.Add(sendLimit))
			if !b.disturbed.IsZero() && !d.now {
				sooner(d.draftEnd(b))
			}
			if d.asker != 0 {
				sooner(d.answerBy)
			}
		}
	}
	return t
}

// texts types texts into agents.
type texts struct {
	m *Machine

	mail        []*record         // agents with an outbox, in name order
	sent        uint64            // number of the newest text
	sendBlocked map[string]string // why nothing can be typed, by provider
}
