package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/watchdog"
)

// thresholds is who judges where nobody else does.
const thresholds = "thresholds"

// letBe begins what is said where nothing was done because nothing has to be.
const letBe = "left alone: "

// judge is who has judged a beat.
type judge struct {
	by   string
	why  string        // the thresholds do, though it is a triage's
	took time.Duration // of a triage
	beat *beat         // that a triage judged
}

// judged does what a beat has come to.
func (wd *watchdogs) judged(now time.Time, t *tier, v watchdog.Verdict, by judge) {
	if v.Decision != watchdog.Wake && v.Decision != watchdog.Nudge {
		wd.retract(now, t, fmt.Sprintf("the beat after it came to %s: %s", v.Decision, v.Reason))
	}
	j := &city.Judgement{At: now, Decision: city.Remedy(v.Decision), Reason: v.Reason, By: by.by,
		Took: by.took}
	if by.why != "" {
		j.Reason += " (" + by.why + ")"
	}
	t.last, wd.m.step.Changed = j, true
	wd.answerBeat(t, fmt.Sprintf("watchdog %s: %s, %s", t.want.Name, j.Decision, j.Reason))
	if v.Decision == watchdog.Nothing {
		return
	}
	result, waits := wd.remedy(now, t, v, by)
	if !strings.HasPrefix(result, letBe) {
		t.chain = t.chain.After(v.Decision, now)
	}
	j.Result = result
	if len(t.recent) == city.MaxDecisions {
		t.recent = slices.Delete(t.recent, 0, 1)
	}
	t.recent = append(t.recent, *j)
	if !waits {
		wd.tellAct(t, j)
	}
}

// tellAct records what was done about an agent, once it is known what has become of it.
func (wd *watchdogs) tellAct(t *tier, j *city.Judgement) {
	wd.tellTier(t, events.Event{Type: events.WatchdogActed, Actor: effect.ActorController,
		Message: fmt.Sprintf("%s %s: %s; %s", j.Decision, t.want.Watches, j.Result, j.Reason)},
		map[string]any{"watches": t.want.Watches, "decision": j.Decision, "reason": j.Reason,
			"by": j.By, "result": j.Result, "failed": t.chain.Failed})
}

func (wd *watchdogs) tellTier(t *tier, e events.Event, about map[string]any,
	answers ...effect.Answer) {
	e.Subject = t.want.Name
	if about != nil {
		e.Payload = step.Payload(about)
	}
	wd.m.inOrder(queuedRecord{Record: effect.Record{Event: e, Answers: answers}})
}

// remedy does what was decided, or the nearest to it that makes sense as things are now, and says so. waits: what
// becomes of it is told later.
func (wd *watchdogs) remedy(now time.Time, t *tier, v watchdog.Verdict, by judge) (result string,
	waits bool) {
	a := wd.m.agents[t.want.Watches]
	why := fmt.Sprintf("watchdog %s: %s", t.want.Name, v.Reason)
	f := wd.facts(now, t, a)
	fresh := watchdog.Class(t.spec(), f) == watchdog.Fresh
	switch v.Decision {
	case watchdog.Start:
		return wd.ensure(now, a, why, fresh, by.beat), false
	case watchdog.Restart:
		return wd.replace(now, a, why), false
	}
	text := t.want.Wake
	if v.Decision == watchdog.Nudge {
		text = t.want.Nudge
	}
	switch {
	case a.called():
		return wd.ensure(now, a, why, fresh, by.beat), false
	case !a.sess.alive && a.act.op == opNone:
		return "nothing to type into: " + wd.ensure(now, a, why, fresh, by.beat), false
	case f.Deaf() != "" && v.Decision == watchdog.Wake && !fresh:
		return f.Deaf() + ": " + wd.replace(now, a, why), false
	case f.CannotBe != "":
		return "failed: " + f.CannotBe, false
	}
	return wd.typeFor(now, t, a, text)
}

// ensure makes an agent live. A wait is lifted, but a quarantine is not (L2), nor what a person has said. What
// lives already is ended first, and started anew: unless it was started since somebody saw it dead, or its
// heartbeat is fresh.
func (wd *watchdogs) ensure(now time.Time, a *record, why string, fresh bool, b *beat) string {
	switch {
	case a.called():
		o := wd.tier(a.want.TriageOf)
		if o == nil || o.rests != "" || o.beat != nil || wd.glancing[o.want.Name] {
			return "its watchdog is at it, or rests"
		}
		wd.beginBeat(o)
		return "the watchdog " + o.want.Name + " beats now"
	case a.act.op == opStart || a.sess.alive && !a.sess.ready:
		return letBe + "it is starting already"
	case a.act.op == opStop:
		return letBe + "it is being stopped; it starts again if it is wanted"
	case a.sess.alive && (b != nil && b.session != a.sess.life.ID || b == nil):
		return letBe + "it lives, it was started meanwhile"
	case a.sess.alive && fresh:
		return letBe + "it lives, and its heartbeat is fresh"
	case a.sess.alive:
		return wd.replace(now, a, why)
	case a.want.Problem != "":
		return "failed: it cannot be started: " + a.want.Problem
	case a.rest.hold == city.Quarantined && now.Before(a.rest.notBefore):
		return "not started: " + standing(a)
	}
	a.rest.notBefore, a.rest.hold, a.rest.holdWhy, a.rest.left = time.Time{}, "", "", false
	a.act.because = "started by " + why
	wd.m.decide(now, a)
	if a.act.op != opStart {
		return "not started yet: " + standing(a)
	}
	return "it is being started"
}

// replace ends an agent and starts it anew.
func (wd *watchdogs) replace(now time.Time, a *record, why string) string {
	switch {
	case a.act.op != opNone && a.act.stopFrom.IsZero():
		return letBe + standing(a)
	case a.act.op != opNone:
		return "not restarted yet: " + standing(a)
	case a.finish.drain != nil:
		return letBe + "it drains"
	case wd.m.deps.missing(a) != "":
		return "failed: a restart would only end it, it " + wd.m.deps.missing(a)
	}
	a.act.intent = cause{kind: causeWatch, why: "restarted by " + why}
	wd.m.decide(now, a)
	return "ended, and started anew"
}

// typeFor has a text typed into an agent, unless the one before still waits to be.
func (wd *watchdogs) typeFor(now time.Time, t *tier, a *record, text string) (result string,
	waits bool) {
	if d := t.typing; d != nil {
		return fmt.Sprintf("failed: the text of an earlier beat is still on its way: %s", d.why),
			false
	}
	if a.sess.life.Frozen {
		return "failed: nothing typed reaches a stopped process" +
			numbered(a.sess.life.PID, ": kill -CONT %d lets it go on"), false
	}
	if len(text) > city.MaxSend { // which no configuration lets through
		return fmt.Sprintf("failed: the text has %d bytes, and %d are the most that can be typed",
			len(text), city.MaxSend), false
	}
	if why, never := wd.m.texts.outlook(a); never {
		return "failed: " + why, false
	}
	if a.out != nil {
		if why := a.out.room(a, len(text)); why != "" {
			return "failed: " + why, false
		}
	}
	before := wd.m.texts.sent
	if wd.m.texts.nudge(now, 0, a, city.Nudge{Text: text}); wd.m.texts.sent == before {
		return "failed: it was not taken", false
	}
	t.typing = a.out.newest(wd.m.texts.sent)
	t.typing.tier, t.typing.meant, t.typed = t.want.Name, a.sess.life.ID, now
	return "on its way", true
}

// retract takes a tier's text back that waits.
func (wd *watchdogs) retract(now time.Time, t *tier, why string) {
	if a := wd.m.agents[t.want.Watches]; t.typing != nil && a != nil && a.out != nil {
		wd.m.texts.takeBack(now, a, t.typing, why)
	}
}

// newest finds a text that waits.
func (b *outbox) newest(id uint64) *delivery {
	for _, d := range b.waiting {
		if d.id == id {
			return d
		}
	}
	return nil
}

// typedFor takes what has become of a watchdog's text.
func (wd *watchdogs) typedFor(d *delivery) {
	t := wd.tier(d.tier)
	if t == nil || t.typing != d {
		return
	}
	t.typing = nil
	result := "typed"
	if d.stage == city.GivenUp {
		result = "failed: " + d.why
	}
	if d.moot != "" && d.stage == city.GivenUp {
		result = "taken back: " + d.why
	}
	for i := range slices.Backward(t.recent) {
		if j := &t.recent[i]; j.At.Equal(t.typed) {
			j.Result = result
			if t.last != nil && t.last.At.Equal(j.At) {
				last := *t.last
				last.Result = result
				t.last = &last
			}
			wd.m.step.Changed = true
			wd.tellAct(t, j)
			return
		}
	}
}

// recovered tells that what had failed is well again.
func (wd *watchdogs) recovered(t *tier) {
	t.esc, t.owed, t.line, wd.m.step.Changed = nil, false, "", true
	wd.m.step.Note(&t.unposted, "")
	wd.tellTier(t, events.Event{Type: events.WatchdogRecovered, Actor: effect.ActorController,
		Message: t.want.Watches + " is heard of again"}, map[string]any{"watches": t.want.Watches})
}

// escalate calls a person when nothing has helped, once until it is better.
func (wd *watchdogs) escalate(now time.Time, t *tier, reason string) {
	w := &t.want
	if t.esc == nil && t.chain.Failed >= w.EscalateAfter {
		msg := fmt.Sprintf("%s is not well, and %d starts and wakes in a row did not help: %s",
			w.Watches, t.chain.Failed, reason)
		if t.chain.Failed == 1 {
			msg = fmt.Sprintf("%s is not well, and what was done did not help: %s", w.Watches,
				reason)
		}
		t.esc, t.owed, t.line, wd.m.step.Changed = &city.Escalation{At: now, To: w.EscalateTo,
			Message: msg}, true, w.EscalateCommand, true
		wd.tellTier(t, events.Event{Type: events.WatchdogEscalated, Actor: effect.ActorController,
			Message: msg}, map[string]any{"watches": w.Watches, "failed": t.chain.Failed,
			"to": w.EscalateTo})
	}
	if t.owed && t.esc != nil {
		wd.post(t)
	}
}

// post sends the mail of an escalation, and runs its command, once.
func (wd *watchdogs) post(t *tier) {
	if wd.posting[t.want.Name] { // the next beat tries again
		return
	}
	wd.posting[t.want.Name] = true
	command := t.line
	t.line = ""
	wd.m.step.Do(effect.Escalate{
		Tier: t.want.Name, Call: t.esc.At, To: t.want.EscalateTo, From: "watchdog " + t.want.Name,
		Subject: t.want.Watches + " is not well",
		Text:    wd.letter(t),
		Command: command, In: wd.m.conf.Source,
		Env: []string{"GC_WATCHDOG=" + t.want.Name, "GC_WATCHDOG_WATCHES=" + t.want.Watches,
			"GC_WATCHDOG_FAILED=" + strconv.Itoa(t.chain.Failed),
			"GC_WATCHDOG_REASON=" + t.esc.Message},
	})
}

// letter is the text of an escalation: what is wrong, what was tried, what to do.
func (wd *watchdogs) letter(t *tier) string {
	text := t.esc.Message + "\n\nWhat was tried:\n"
	for i := max(0, len(t.recent)-t.chain.Failed); i < len(t.recent); i++ {
		j := &t.recent[i]
		text += fmt.Sprintf("- %s %s, by %s: %s (%s)\n", j.At.UTC().Format(time.RFC3339),
			j.Decision, j.By, j.Reason, j.Result)
	}
	return text + fmt.Sprintf("\nLook at it: gcity why %s; gcity agent peek %s\nSay that you "+
		"have seen this: gcity watchdog acknowledge %s\n", t.want.Watches, t.want.Watches,
		t.want.Name)
}

// posted takes what has become of an escalation.
func (wd *watchdogs) posted(in effect.Escalated) {
	for _, e := range in.Events {
		wd.m.step.Do(effect.Record{Event: e})
	}
	if len(in.Events) > 0 {
		wd.m.count()
	}
	delete(wd.posting, in.Tier)
	t := wd.tier(in.Tier)
	if t == nil {
		return
	}
	if in.Ran {
		msg := "escalate_command: ok"
		if in.Failed != "" {
			msg = "escalate_command failed: " + in.Failed
		}
		wd.tellTier(t, events.Event{Type: events.WatchdogCommand, Actor: effect.ActorController,
			Message: msg}, map[string]any{"output": in.Output})
	}
	if t.esc == nil || !t.esc.At.Equal(in.Call) { // the call that it was for is over
		return
	}
	t.owed = in.Err != ""
	wd.m.step.Note(&t.unposted, in.Err)
}
