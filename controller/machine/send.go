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
	"gcity/controller/lifecycle"
	"gcity/controller/outbox"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

// Limits for texts to agents.
const (
	SendAnswer  = 2 * time.Second  // a command reports the state of its text after this time
	draftLimit  = 10 * time.Minute // maximum wait of a text behind a user's draft
	sendLimit   = time.Hour        // maximum wait of any other text
	SendShown   = time.Minute      // how long a finished text is shown
	maxSendOver = 5                // number of finished texts that are shown
)

// outputChecks is when output is checked after a text was submitted. Later output is probably unrelated.
var outputChecks = [...]time.Duration{time.Second, 3 * time.Second, 8 * time.Second}

// nudge queues a text. deliver decides what happens to it.
func (tx *texts) nudge(now time.Time, id uint64, a *record, c city.Nudge) {
	if len(c.Text) > city.MaxSend {
		tx.m.step.Refuse(id, city.Invalid, fmt.Sprintf("a text of %d bytes is too long (maximum "+
			"%d); put it into a file and send the file's name", len(c.Text), city.MaxSend))
		return
	}
	if _, never := tx.outlook(a); never || a.phase.Idle() &&
		a.state == city.Failed {
		tx.m.step.Refuse(id, city.Conflict, noSession(a))
		return
	}
	if a.out == nil {
		a.out = &outbox.Outbox{}
		at, _ := slices.BinarySearchFunc(tx.mail, a.name, func(a *record, name string) int {
			return strings.Compare(a.name, name)
		})
		tx.mail = slices.Insert(tx.mail, at, a)
	}
	if why := a.out.Room(a.name, len(c.Text)); why != "" {
		tx.m.step.Refuse(id, city.Unavailable, why)
		return
	}
	tx.sent++
	d := &outbox.Delivery{
		ID: tx.sent, Text: c.Text, Lines: 1 + strings.Count(strings.TrimSuffix(c.Text, "\n"), "\n"),
		Bytes: len(c.Text), Now: c.Now,
		Stage: city.Queued, Why: "waiting for its turn", Since: now, Came: now, Asker: id,
		AnswerBy: now.Add(SendAnswer),
	}
	d.First, _, _ = strings.Cut(c.Text, "\n")
	d.First = strings.ToValidUTF8(d.First[:min(len(d.First), city.MaxSendShown)], "")
	if n := len(a.out.Waiting); n > 0 && !d.Now {
		d.Why = a.out.Waiting[n-1].Why
	}
	a.out.Queue(d, false)
	tx.m.step.Changed = true
}

func noSession(a *record) string {
	return fmt.Sprintf("agent %s has no session: it is %s (%s)", a.name, a.state, a.reason)
}

// outlook returns why nothing can be typed into an agent now, or "" if texts can be typed. never reports that
// waiting is useless.
func (tx *texts) outlook(a *record) (why string, never bool) {
	switch {
	case tx.m.ending != alive:
		return "the city is being stopped", true
	case a.phase.State() == lifecycle.Running:
		return "", false
	case a.unwanted() || a.want.Suspended != "" || a.want.Problem != "":
		return standing(a), true
	case a.phase.State() != lifecycle.Absent:
	case a.rest.staysDown || a.rest.hold == city.Quarantined:
		return standing(a), true
	}
	if a.phase.Starting() || a.state == city.Starting {
		return "it is starting and not ready yet", false
	}
	return standing(a), false
}

// deliver advances the texts of all agents: it types them, gives them up, and answers commands that have waited
// long enough. Like decide, it is level-triggered.
func (tx *texts) deliver(now time.Time) {
	for _, a := range tx.mail {
		tx.deliverTo(now, a)
	}
	tx.mail = slices.DeleteFunc(tx.mail, func(a *record) bool {
		if done := a.out.Current == nil && len(a.out.Waiting)+len(a.out.Over) == 0; done {
			a.out = nil
			return true
		}
		return false
	})
}

func (tx *texts) deliverTo(now time.Time, a *record) {
	b := a.out
	b.Over = slices.DeleteFunc(b.Over, func(d *outbox.Delivery) bool {
		old := !now.Before(d.Since.Add(SendShown))
		tx.m.step.Changed = tx.m.step.Changed || old
		return old
	})
	tx.checkOutput(now, a)
	if len(b.Waiting) > 0 {
		why, never := tx.outlook(a)
		switch {
		case never:
			tx.giveUpAll(now, a, tx.codeOf(), why)
		case why != "":
			b.Again, b.Disturbed = time.Time{}, time.Time{}
			tx.holdBack(b, why)
		case b.Current != nil || len(a.typing) > 0: // the terminal is busy; a later step continues
		case b.Waiting[0].MeantFor(a.sess.life.ID) != "":
			tx.takeBack(now, a, b.Waiting[0], b.Waiting[0].MeantFor(a.sess.life.ID))
		case !now.Before(b.Again) || b.Waiting[0].Now:
			tx.typeText(now, a)
		}
	}
	tx.expire(now, a)
	tx.report(now, a)
}

// report answers the commands that have waited long enough, although their text is not typed yet.
func (tx *texts) report(now time.Time, a *record) {
	for _, d := range a.out.All() {
		if d.Asker != 0 && !now.Before(d.AnswerBy) {
			tx.m.step.Do(effect.Reply{Answer: effect.Answer{ID: d.Asker, Receipt: receipt(a, d)}})
			d.Asker = 0
		}
	}
}

// codeOf returns the error code for a text that is given up because of the agent, or because the city stops.
func (tx *texts) codeOf() city.Code {
	if tx.m.ending != alive {
		return city.Unavailable
	}
	return city.Conflict
}

func receipt(a *record, d *outbox.Delivery) city.Receipt {
	send := d.Draw()
	r := city.Receipt{Send: &send}
	switch d.Stage {
	case city.Queued:
		r.Message = fmt.Sprintf("queued for %s: %s; it will be typed later (`gcity agent unsend "+
			"%s %d` takes it back)", a.name, d.Why, a.name, d.ID)
	case city.Typing:
		r.Message = "the terminal of agent " + a.name + " is still accepting the text"
	default:
		r.Message = "agent " + a.name + " accepted the text"
	}
	return r
}

// holdBack sets why the queued texts are not typed yet.
func (tx *texts) holdBack(b *outbox.Outbox, why string) {
	for _, d := range b.Waiting {
		if d.Why != why {
			d.Why, tx.m.step.Changed = why, true
		}
	}
}

// expire gives up texts that have waited too long.
func (tx *texts) expire(now time.Time, a *record) {
	b := a.out
	for _, d := range slices.Clone(b.Waiting) {
		switch {
		case !d.Now && !b.Disturbed.IsZero() && !now.Before(d.DraftEnd(b, draftLimit)):
			tx.giveUp(now, a, d, dropped{city.Conflict,
				fmt.Sprintf("%s, for %s", d.Why, draftLimit), effect.ActorController})
		case !now.Before(d.Came.Add(sendLimit)):
			tx.giveUp(now, a, d, dropped{city.Conflict,
				fmt.Sprintf("it could not be typed within %s: %s", sendLimit, d.Why),
				effect.ActorController})
		}
	}
}

// typeText moves the oldest text to the terminal's queue, where keys wait too.
func (tx *texts) typeText(now time.Time, a *record) {
	b := a.out
	d := b.Waiting[0]
	b.Waiting = slices.Delete(b.Waiting, 0, 1)
	b.Current = d
	d.Life = a.sess.life.ID
	if !d.Held { // a text that was refused before stays shown as queued until it is typed
		d.Stage, d.Why, d.Since, tx.m.step.Changed = city.Typing, "", now, true
	}
	tx.m.commands.enqueue(a, typing{text: d})
}

func (tx *texts) delivered(now time.Time, in effect.Sent) {
	a, ok := tx.m.agents[in.Agent]
	if !ok || a.out == nil || a.out.Current == nil || a.out.Current.ID != in.ID {
		tx.m.commands.typedNext(a)
		return
	}
	b := a.out
	d := b.Current
	b.Current, tx.m.step.Changed = nil, true
	tx.m.commands.typedNext(a)
	switch {
	case in.Err != nil:
		if errors.Is(in.Err, session.ErrUnsupported) {
			tx.sendBlocked[a.sess.life.Provider] = in.Err.Error()
		}
		tx.giveUp(now, a, d, dropped{city.Unavailable, "its terminal did not accept it: " +
			in.Err.Error(), effect.ActorController})
	case in.Held != "":
		if !d.Held {
			d.Held, d.Stage, d.Since = true, city.Queued, d.Came
		}
		if len(d.Takers) > 0 {
			tx.giveUp(now, a, d, byHand())
			return
		}
		if d.Obsolete != "" {
			tx.takeBack(now, a, d, d.Obsolete)
			return
		}
		b.Queue(d, true)
		b.Again = now.Add(in.Wait)
		if in.Disturbed && b.Disturbed.IsZero() {
			b.Disturbed = now
		}
		tx.holdBack(b, in.Held)
	default:
		b.Again, b.Disturbed = time.Time{}, time.Time{}
		delete(tx.sendBlocked, a.sess.life.Provider)
		d.Stage, d.Why, d.Since, d.Output, d.Text = city.Submitted, "", now, in.Output, ""
		tx.keepOver(b, d)
		tx.tooLate(a, d)
		var answers []effect.Answer
		if d.Asker != 0 {
			answers = []effect.Answer{{ID: d.Asker, Receipt: receipt(a, d)}}
			d.Asker = 0
		}
		tx.m.journal.record(a, events.Event{Type: events.AgentNudged, Actor: d.Sender(),
			Message: d.String() + " was typed and submitted", Payload: step.Payload(d.Payload())},
			answers...)
		tx.typedFor(d)
	}
}

func (tx *texts) keepOver(b *outbox.Outbox, d *outbox.Delivery) {
	if len(b.Over) == maxSendOver {
		b.Over = slices.Delete(b.Over, 0, 1)
	}
	b.Over = append(b.Over, d)
}

// checkOutput checks a few times after a text was submitted whether the agent has printed something.
func (tx *texts) checkOutput(now time.Time, a *record) {
	for _, d := range a.out.Over {
		if d.Stage != city.Submitted || d.Looks > len(outputChecks) {
			continue
		}
		switch {
		case !a.phase.Alive() || a.sess.life.ID != d.Life || d.Output == math.MaxUint64:
			// that session is over, or the provider does not count output
			d.Looks = len(outputChecks) + 1
		case a.sess.life.Output > d.Output:
			d.Stage, d.Since, tx.m.step.Changed = city.Acknowledged, now, true
		case d.Looks == len(outputChecks):
		case !now.Before(d.Since.Add(outputChecks[d.Looks])):
			d.Looks++
			tx.m.looks.look()
		}
	}
}

// dropped describes why a text is given up, and by which actor.
type dropped struct {
	code  city.Code
	why   string
	actor string
}

// giveUp drops a text that was not typed. It answers the waiting commands and records an event.
func (tx *texts) giveUp(now time.Time, a *record, d *outbox.Delivery, g dropped,
	answers ...effect.Answer) {
	b := a.out
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *outbox.Delivery) bool { return w == d })
	if b.Current == d {
		b.Current = nil
	}
	d.Stage, d.Why, d.Since, d.Text = city.GivenUp, g.why, now, ""
	tx.keepOver(b, d)
	tx.m.step.Changed = true
	for _, t := range d.Takers {
		answers = append(answers, t.Receipt(a.name, 1))
	}
	d.Takers = nil
	if d.Asker != 0 {
		answers = append(answers, effect.Answer{ID: d.Asker,
			Err: &city.Error{Code: g.code, Message: fmt.Sprintf(
				"the text for agent %s was given up: %s", a.name, g.why)}})
		d.Asker = 0
	}
	tx.m.journal.record(a, events.Event{Type: events.AgentNudgeDropped, Actor: g.actor,
		Message: d.String() + " was given up: " + g.why, Payload: step.Payload(d.Payload())},
		answers...)
	tx.typedFor(d)
}

func (tx *texts) giveUpAll(now time.Time, a *record, code city.Code, why string) {
	for _, d := range slices.Clone(a.out.Waiting) {
		tx.giveUp(now, a, d, dropped{code, why, effect.ActorController})
	}
}

// giveUpMail gives up all texts when the city stops.
func (tx *texts) giveUpMail(now time.Time) {
	for _, a := range tx.mail {
		tx.giveUpAll(now, a, city.Unavailable, "the controller has ended")
		if d := a.out.Current; d != nil {
			tx.giveUp(now, a, d, dropped{city.Unavailable,
				"the controller ended while the text was being typed, so it may have been typed",
				effect.ActorController})
		}
	}
}

// nextSend returns the earlier of t and the time when deliver must run next; zero = after an input only.
func (tx *texts) nextSend(now, t time.Time) time.Time {
	sooner := func(at time.Time) {
		if at.After(now) && (t.IsZero() || at.Before(t)) {
			t = at
		}
	}
	for _, a := range tx.mail {
		b := a.out
		for _, d := range b.Over {
			sooner(d.Since.Add(SendShown))
			if d.Stage == city.Submitted && d.Looks < len(outputChecks) {
				sooner(d.Since.Add(outputChecks[d.Looks]))
			}
		}
		if b.Current != nil && b.Current.Asker != 0 {
			sooner(b.Current.AnswerBy)
		}
		for _, d := range b.Waiting {
			sooner(b.Again)
			sooner(d.Came.Add(sendLimit))
			if !b.Disturbed.IsZero() && !d.Now {
				sooner(d.DraftEnd(b, draftLimit))
			}
			if d.Asker != 0 {
				sooner(d.AnswerBy)
			}
		}
	}
	return t
}

// texts types texts into the terminals of agents.
type texts struct {
	m *Machine

	mail        []*record         // agents with an outbox, sorted by name
	sent        uint64            // ID of the newest text
	sendBlocked map[string]string // why texts cannot be typed, by provider
}
