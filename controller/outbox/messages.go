package outbox

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
	"gcity/internal/span"
	"gcity/session"
)

// City is the view of the city that Messages uses.
type City interface {
	Running() bool // the city is not being stopped
	// WhyNotTyped returns the reason why nothing can be typed into an agent now, or "". never is true if waiting would
	// not help.
	WhyNotTyped(agent string) (why string, never bool)
	Unreachable(agent string) string // why no nudge can be queued for an agent, or ""
	Terminal(agent string) Terminal
	RequestList()
	Record(agent string, e events.Event, replies ...effect.Reply)
	Typed(d *Delivery) // called when a nudge was typed or dropped
}

// Terminal is the terminal of an agent's session.
type Terminal struct {
	Session, Life, Provider string           // name and ID of the session, and its provider
	Prefix                  string           // prefix of the line that can contain a user's draft
	Dialogs                 []session.Dialog // questions that the program may ask
	Alive                   bool
	Output                  uint64 // bytes that the session has printed
}

// Messages types nudges and keys into agents' terminals.
type Messages struct {
	city City
	out  *step.Output

	outboxes []*Outbox         // sorted by agent
	Sent     uint64            // ID of the newest nudge
	blocked  map[string]string // reason why nudges cannot be typed, by provider
}

// New returns an empty Messages that adds its effects to out.
func New(c City, out *step.Output) Messages {
	return Messages{city: c, out: out, blocked: map[string]string{}}
}

// Blocked returns the reason why nudges to the sessions of a provider cannot be typed, or "".
func (tx *Messages) Blocked(provider string) string { return tx.blocked[provider] }

// Limits for nudges.
const (
	ReportAfter = 2 * time.Second  // after this time, a command reports the state of its nudge
	draftLimit  = 10 * time.Minute // how long a user's draft can delay a nudge
	sendLimit   = time.Hour        // how long a nudge waits in the queue
	SendShown   = time.Minute      // how long a finished nudge is shown
	maxFinished = 5                // finished nudges that are shown
)

// outputChecks contains the delays after which an agent's output is checked for a response to a nudge. Later
// output is probably unrelated to the nudge.
var outputChecks = [...]time.Duration{time.Second, 3 * time.Second, 8 * time.Second}

// Nudge queues a nudge. Later, Deliver types or drops it.
func (tx *Messages) Nudge(now time.Time, id uint64, b *Outbox, c city.Nudge) {
	if len(c.Text) > city.MaxSend {
		tx.out.Reject(id, city.Invalid, "a nudge of %d bytes is too long "+
			"(maximum %d); put the text into a file and send the file's "+
			"name", len(c.Text), city.MaxSend)
		return
	}
	if why := tx.city.Unreachable(b.Agent); why != "" {
		tx.out.Reject(id, city.Conflict, "%s", why)
		return
	}
	if !b.listed {
		at, _ := slices.BinarySearchFunc(tx.outboxes, b.Agent, func(b *Outbox, name string) int {
			return strings.Compare(b.Agent, name)
		})
		tx.outboxes, b.listed = slices.Insert(tx.outboxes, at, b), true
	}
	if why := b.WhyFull(len(c.Text)); why != "" {
		tx.out.Reject(id, city.Unavailable, "%s", why)
		return
	}
	tx.Sent++
	d := &Delivery{
		ID: tx.Sent, Text: c.Text, Lines: 1 + strings.Count(strings.TrimSuffix(c.Text, "\n"), "\n"),
		Bytes: len(c.Text), Now: c.Now, Depth: c.Depth,
		Stage: city.Queued, Why: "waiting for its turn", Since: now, QueuedAt: now, ReportTo: id,
		ReportBy: now.Add(ReportAfter), By: tx.out.Caller(),
	}
	d.First, _, _ = strings.Cut(c.Text, "\n")
	d.First = strings.ToValidUTF8(d.First[:min(len(d.First), city.MaxSendShown)], "")
	if n := len(b.Waiting); n > 0 && !d.Now {
		d.Hold, d.Why = b.Waiting[n-1].Hold, b.Waiting[n-1].Why
	}
	b.Queue(d, false)
	tx.out.Changed = true
}

// Deliver types or drops nudges, and replies to commands that have waited long enough.
func (tx *Messages) Deliver(now time.Time) {
	for _, b := range tx.outboxes {
		tx.deliverTo(now, b)
	}
	tx.outboxes = slices.DeleteFunc(tx.outboxes, func(b *Outbox) bool {
		b.listed = b.Current != nil || len(b.Waiting)+len(b.Finished) > 0
		if !b.listed {
			b.NextAttempt, b.DelayedSince = time.Time{}, time.Time{}
		}
		return !b.listed
	})
}

func (tx *Messages) deliverTo(now time.Time, b *Outbox) {
	b.Finished = slices.DeleteFunc(b.Finished, func(d *Delivery) bool {
		old := !now.Before(d.Since.Add(SendShown))
		tx.out.Changed = tx.out.Changed || old
		return old
	})
	tx.checkOutput(now, b)
	if len(b.Waiting) > 0 {
		why, never := tx.city.WhyNotTyped(b.Agent)
		busy := b.Current != nil || len(b.queue) > 0
		if why == "" && !busy {
			tx.takeBackOld(now, b)
		}
		switch {
		case len(b.Waiting) == 0:
		case never:
			tx.giveUpAll(now, b, tx.codeOf(), why)
		case why != "":
			b.NextAttempt, b.DelayedSince = time.Time{}, time.Time{}
			tx.holdBack(b, "", why)
		case busy: // a later step types the nudge
		case !now.Before(b.NextAttempt) || b.Waiting[0].Now && !b.Waiting[0].Held:
			tx.typeMessage(now, b)
		}
	}
	tx.expire(now, b)
	tx.report(now, b)
}

// takeBackOld cancels the nudges before the first one that is meant for the current session.
func (tx *Messages) takeBackOld(now time.Time, b *Outbox) {
	life := tx.city.Terminal(b.Agent).Life
	for len(b.Waiting) > 0 {
		why := b.Waiting[0].WhyOtherSession(life)
		if why == "" {
			return
		}
		tx.TakeBack(now, b, b.Waiting[0], why)
	}
}

func (tx *Messages) report(now time.Time, b *Outbox) {
	for _, d := range b.All() {
		if d.ReportTo != 0 && !now.Before(d.ReportBy) {
			tx.out.Do(effect.SendReply{Reply: effect.Reply{ID: d.ReportTo, Receipt: receipt(b, d)}})
			d.ReportTo = 0
		}
	}
}

// codeOfInput returns the code for input that failed. If the session rejected the input, a retry would fail too.
func codeOfInput(err error) city.Code {
	if errors.Is(err, session.ErrRejected) {
		return city.Conflict
	}
	return city.Unavailable
}

func (tx *Messages) codeOf() city.Code {
	if !tx.city.Running() {
		return city.Unavailable
	}
	return city.Conflict
}

func receipt(b *Outbox, d *Delivery) city.Receipt {
	r := city.Receipt{Send: new(d.Draw())}
	switch d.Stage {
	case city.Queued:
		r.Message = fmt.Sprintf("the nudge for agent %s is queued (%s); `gcity agent unsend "+
			"%s %d` cancels it", b.Agent, d.Why, b.Agent, d.ID)
	case city.Typing:
		r.Message = "the terminal of agent " + b.Agent + " is still receiving the nudge"
	default:
		r.Message = "agent " + b.Agent + " accepted the nudge"
	}
	return r
}

func (tx *Messages) holdBack(b *Outbox, hold city.Hold, why string) {
	for _, d := range b.Waiting {
		if d.Hold != hold || d.Why != why {
			d.Hold, d.Why, tx.out.Changed = hold, why, true
		}
	}
}

func (tx *Messages) expire(now time.Time, b *Outbox) {
	for _, d := range slices.Clone(b.Waiting) {
		switch {
		case !d.Now && !b.DelayedSince.IsZero() && !now.Before(d.DraftEnd(b, draftLimit)):
			tx.giveUp(now, b, d, dropped{city.Conflict,
				fmt.Sprintf("%s, for %s", d.Why, span.Text(draftLimit)), effect.ActorController})
		case !now.Before(d.QueuedAt.Add(sendLimit)):
			tx.giveUp(now, b, d, dropped{city.Conflict,
				fmt.Sprintf("the nudge could not be typed within %s: %s", span.Text(sendLimit),
					d.Why),
				effect.ActorController})
		}
	}
}

func (tx *Messages) typeMessage(now time.Time, b *Outbox) {
	d := b.Waiting[0]
	b.Waiting = slices.Delete(b.Waiting, 0, 1)
	b.Current = d
	d.Life = tx.city.Terminal(b.Agent).Life
	if !d.Held { // if d was held back earlier, it is shown as queued until it is typed
		d.Stage, d.Why, d.Since, tx.out.Changed = city.Typing, "", now, true
	}
	tx.enqueue(b, entry{message: d})
}

func (tx *Messages) Delivered(now time.Time, b *Outbox, in effect.Sent) {
	if b == nil || b.Current == nil || b.Current.ID != in.ID {
		tx.typedNext(b)
		return
	}
	d := b.Current
	b.Current, tx.out.Changed = nil, true
	tx.typedNext(b)
	switch {
	case in.Err != nil:
		if errors.Is(in.Err, session.ErrUnsupported) {
			tx.blocked[tx.city.Terminal(b.Agent).Provider] = in.Err.Error()
		}
		tx.giveUp(now, b, d, dropped{codeOfInput(in.Err),
			"typing the nudge failed: " + in.Err.Error(), effect.ActorController})
	case in.Held != "":
		if !d.Held {
			d.Held, d.Stage, d.Since = true, city.Queued, d.QueuedAt
		}
		if len(d.Cancelers) > 0 {
			tx.giveUp(now, b, d, d.Cancelers[0].dropped())
			return
		}
		if d.Obsolete != "" {
			tx.TakeBack(now, b, d, d.Obsolete)
			return
		}
		b.Queue(d, true)
		b.NextAttempt = now.Add(retryWait(now, b, in))
		if in.Disturbed && b.DelayedSince.IsZero() {
			b.DelayedSince = now
		}
		tx.holdBack(b, in.Held, in.Held.Text())
	default:
		b.NextAttempt, b.DelayedSince = time.Time{}, time.Time{}
		delete(tx.blocked, tx.city.Terminal(b.Agent).Provider)
		d.Stage, d.Why, d.Since, d.Output, d.Text = city.Submitted, "", now, in.Output, ""
		tx.keepFinished(b, d)
		tx.tooLate(b, d)
		var replies []effect.Reply
		if d.ReportTo != 0 {
			replies = []effect.Reply{{ID: d.ReportTo, Receipt: receipt(b, d)}}
			d.ReportTo = 0
		}
		tx.city.Record(b.Agent, events.Event{Type: events.AgentNudged, Actor: d.Sender(),
			Peer: d.By.Address(), Message: d.String() + " was typed and submitted",
			Payload: step.Payload(d.Payload())},
			replies...)
		tx.city.Typed(d)
	}
}

// redrawTime is how long a program may show a submitted text on its input line.
const redrawTime = time.Second

// retryWait returns the wait before the next attempt. A text on the input line can be the previous nudge, which a
// program removes soon after Enter.
func retryWait(now time.Time, b *Outbox, in effect.Sent) time.Duration {
	if n := len(b.Finished); in.Held == city.HoldScreen && n > 0 &&
		b.Finished[n-1].Stage != city.GivenUp && now.Sub(b.Finished[n-1].Since) < redrawTime {
		return min(in.Wait, redrawTime/2)
	}
	return in.Wait
}

func (tx *Messages) keepFinished(b *Outbox, d *Delivery) {
	if len(b.Finished) == maxFinished {
		b.Finished = slices.Delete(b.Finished, 0, 1)
	}
	b.Finished = append(b.Finished, d)
}

func (tx *Messages) checkOutput(now time.Time, b *Outbox) {
	for _, d := range b.Finished {
		if d.Stage != city.Submitted || d.OutputChecks > len(outputChecks) {
			continue
		}
		at := tx.city.Terminal(b.Agent)
		switch {
		case !at.Alive || at.Life != d.Life || d.Output == math.MaxUint64:
			// the session has ended, or the provider does not count output
			d.OutputChecks = len(outputChecks) + 1
		case at.Output > d.Output:
			d.Stage, d.Since, tx.out.Changed = city.Acknowledged, now, true
		case d.OutputChecks == len(outputChecks):
		case !now.Before(d.Since.Add(outputChecks[d.OutputChecks])):
			d.OutputChecks++
			tx.city.RequestList()
		}
	}
}

type dropped struct {
	code  city.Code
	why   string
	actor string
}

func (tx *Messages) giveUp(now time.Time, b *Outbox, d *Delivery, g dropped,
	replies ...effect.Reply) {
	b.Waiting = slices.DeleteFunc(b.Waiting, func(w *Delivery) bool { return w == d })
	if b.Current == d {
		b.Current = nil
	}
	d.Stage, d.Why, d.Since, d.Text = city.GivenUp, g.why, now, ""
	tx.keepFinished(b, d)
	tx.out.Changed = true
	for _, t := range d.Cancelers {
		replies = append(replies, t.Receipt(b.Agent, 1))
	}
	d.Cancelers = nil
	if d.ReportTo != 0 {
		replies = append(replies, effect.Reply{ID: d.ReportTo,
			Err: city.Errorf(g.code, "the nudge for agent %s was dropped: %s", b.Agent, g.why)})
		d.ReportTo = 0
	}
	tx.city.Record(b.Agent, events.Event{Type: events.AgentNudgeDropped, Actor: g.actor,
		Message: d.String() + " was dropped: " + g.why, Payload: step.Payload(d.Payload())},
		replies...)
	tx.city.Typed(d)
}

func (tx *Messages) giveUpAll(now time.Time, b *Outbox, code city.Code, why string) {
	for _, d := range slices.Clone(b.Waiting) {
		tx.giveUp(now, b, d, dropped{code, why, effect.ActorController})
	}
}

// GiveUpAll drops all nudges when the city stops.
func (tx *Messages) GiveUpAll(now time.Time) {
	for _, b := range tx.outboxes {
		tx.giveUpAll(now, b, city.Unavailable, "the controller has exited")
		if d := b.Current; d != nil {
			tx.giveUp(now, b, d, dropped{city.Unavailable,
				"the controller exited while the nudge was being typed, so it might have been " +
					"typed",
				effect.ActorController})
		}
	}
}

// Next returns the earlier of t and the time at which Deliver must run without an input. A zero t means that no time is
// set.
func (tx *Messages) Next(now, t time.Time) time.Time {
	sooner := func(at time.Time) {
		if at.After(now) {
			t = step.Earlier(t, at)
		}
	}
	for _, b := range tx.outboxes {
		for _, d := range b.Finished {
			sooner(d.Since.Add(SendShown))
			if d.Stage == city.Submitted && d.OutputChecks < len(outputChecks) {
				sooner(d.Since.Add(outputChecks[d.OutputChecks]))
			}
		}
		if b.Current != nil && b.Current.ReportTo != 0 {
			sooner(b.Current.ReportBy)
		}
		for _, d := range b.Waiting {
			sooner(b.NextAttempt)
			sooner(d.QueuedAt.Add(sendLimit))
			if !b.DelayedSince.IsZero() && !d.Now {
				sooner(d.DraftEnd(b, draftLimit))
			}
			if d.ReportTo != 0 {
				sooner(d.ReportBy)
			}
		}
	}
	return t
}

// Unsend cancels queued nudges. For a nudge that is being typed, the result is known when the typing ends.
func (tx *Messages) Unsend(now time.Time, id uint64, b *Outbox, c city.Unsend) {
	var back []*Delivery
	var going *Delivery
	for _, d := range b.All() {
		switch {
		case c.ID != 0 && d.ID != c.ID:
		case slices.Contains(b.Waiting, d):
			back = append(back, d)
		case d == b.Current:
			going = d
		case c.ID != 0:
			tx.out.Reject(id, city.Conflict,
				"nudge %d for agent %s cannot be canceled: the nudge was already %s",
				c.ID, b.Agent, d.Stage)
			return
		}
	}
	t := Canceler{ID: id, N: len(back), By: tx.out.Caller()}
	for i, d := range back {
		var replies []effect.Reply
		if i == len(back)-1 && going == nil {
			replies = []effect.Reply{t.Receipt(b.Agent, 0)}
		}
		tx.giveUp(now, b, d, t.dropped(), replies...)
	}
	switch {
	case going != nil:
		going.Cancelers = append(going.Cancelers, t)
	case len(back) > 0:
	case c.ID != 0:
		tx.out.Reject(id, city.Conflict, "nudge %d is not queued for agent %s",
			c.ID, b.Agent)
	default:
		tx.out.Reject(id, city.Conflict, "there are no queued nudges for agent %s", b.Agent)
	}
}

// TakeBack cancels a nudge that its watchdog no longer needs.
func (tx *Messages) TakeBack(now time.Time, b *Outbox, d *Delivery, why string) {
	if d.Obsolete = why; b.Current != d {
		tx.giveUp(now, b, d, dropped{city.Conflict, why, effect.ActorController})
	}
}

func (t Canceler) dropped() dropped {
	return dropped{city.Conflict, "canceled by " + t.By.Name(), t.By.Name()}
}

func (tx *Messages) tooLate(b *Outbox, d *Delivery) {
	for _, t := range d.Cancelers {
		if t.N > 0 {
			tx.out.Do(effect.SendReply{Reply: t.Receipt(b.Agent, 0)})
			continue
		}
		tx.out.Reject(t.ID, city.Conflict, "nudge %d for agent %s cannot be "+
			"canceled: the nudge has just been typed", d.ID, b.Agent)
	}
	d.Cancelers = nil
}
