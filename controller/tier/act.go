package tier

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

// thresholds is the judge of a beat that no triage judges.
const thresholds = "thresholds"

// judge tells how a beat was judged.
type judge struct {
	by   string
	why  string        // the thresholds do, though it is a triage's
	took time.Duration // of a triage
	beat *beat         // that a triage judged
}

// judged does what a beat has come to.
func (wd *Watchdogs) judged(now time.Time, t *tier, v watchdog.Verdict, by judge) {
	if v.Decision != watchdog.Wake && v.Decision != watchdog.Nudge {
		wd.retract(now, t, fmt.Sprintf("the beat after it came to %s: %s", v.Decision, v.Reason))
	}
	j := &city.Judgement{At: now, Decision: city.Remedy(v.Decision), Reason: v.Reason, By: by.by,
		Took: by.took}
	if by.why != "" {
		j.Reason += " (" + by.why + ")"
	}
	t.last, wd.out.Changed = j, true
	wd.answerBeat(t, fmt.Sprintf("watchdog %s: %s, %s", t.want.Name, j.Decision, j.Reason))
	if v.Decision == watchdog.Nothing {
		return
	}
	result, waits := wd.remedy(now, t, v, by)
	if !strings.HasPrefix(result, LeftAlone) {
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
func (wd *Watchdogs) tellAct(t *tier, j *city.Judgement) {
	wd.tellTier(t, events.Event{Type: events.WatchdogActed, Actor: effect.ActorController,
		Message: fmt.Sprintf("%s %s: %s; %s", j.Decision, t.want.Watches, j.Result, j.Reason)},
		map[string]any{"watches": t.want.Watches, "decision": j.Decision, "reason": j.Reason,
			"by": j.By, "result": j.Result, "failed": t.chain.Failed})
}

func (wd *Watchdogs) tellTier(t *tier, e events.Event, about map[string]any,
	answers ...effect.Answer) {
	e.Subject = t.want.Name
	if about != nil {
		e.Payload = step.Payload(about)
	}
	wd.city.Record(e, answers...)
}

// remedy does what was decided, or the nearest to it that makes sense as things are now, and says so. waits: what
// becomes of it is told later.
func (wd *Watchdogs) remedy(now time.Time, t *tier, v watchdog.Verdict, by judge) (result string,
	waits bool) {
	a := wd.city.Agent(t.want.Watches)
	why := fmt.Sprintf("watchdog %s: %s", t.want.Name, v.Reason)
	f := wd.facts(now, t, a)
	fresh := watchdog.Class(t.spec(), f) == watchdog.Fresh
	switch v.Decision {
	case watchdog.Start:
		return wd.ensure(now, a, why, fresh, by.beat), false
	case watchdog.Restart:
		return wd.city.Replace(now, a.Name, why), false
	}
	text := t.want.Wake
	if v.Decision == watchdog.Nudge {
		text = t.want.Nudge
	}
	switch {
	case a.TriageOf != "":
		return wd.ensure(now, a, why, fresh, by.beat), false
	case !a.Alive && !a.Starting && !a.Stopping:
		return "nothing to type into: " + wd.ensure(now, a, why, fresh, by.beat), false
	case f.Deaf() != "" && v.Decision == watchdog.Wake && !fresh:
		return f.Deaf() + ": " + wd.city.Replace(now, a.Name, why), false
	case f.CannotBe != "":
		return "failed: " + f.CannotBe, false
	}
	return wd.typeFor(now, t, a, text)
}

// ensure makes an agent live. A wait is lifted, but a quarantine is not (L2), nor what a person has said. What
// lives already is ended first, and started anew: unless it was started since somebody saw it dead, or its
// heartbeat is fresh.
func (wd *Watchdogs) ensure(now time.Time, a *Agent, why string, fresh bool, b *beat) string {
	switch {
	case a.TriageOf != "":
		o := wd.tier(a.TriageOf)
		if o == nil || o.rests != "" || o.beat != nil || wd.glancing[o.want.Name] {
			return "its watchdog is at it, or rests"
		}
		wd.beginBeat(o)
		return "the watchdog " + o.want.Name + " beats now"
	case a.Starting || a.Alive && !a.Ready:
		return LeftAlone + "it is starting already"
	case a.Stopping:
		return LeftAlone + "it is being stopped; it starts again if it is wanted"
	case a.Alive && (b != nil && b.session != a.Life.ID || b == nil):
		return LeftAlone + "it lives, it was started meanwhile"
	case a.Alive && fresh:
		return LeftAlone + "it lives, and its heartbeat is fresh"
	case a.Alive:
		return wd.city.Replace(now, a.Name, why)
	case a.Problem != "":
		return "failed: it cannot be started: " + a.Problem
	case now.Before(a.QuarantinedUntil):
		return "not started: " + Standing(a.State, a.Reason)
	}
	return wd.city.Start(now, a.Name, why)
}

// typeFor has a text typed into an agent, unless the one before still waits to be.
func (wd *Watchdogs) typeFor(now time.Time, t *tier, a *Agent, text string) (result string,
	waits bool) {
	if t.typing != 0 {
		return "failed: the text of an earlier beat is still on its way: " +
			wd.city.TextReason(a.Name, t.typing), false
	}
	if a.Life.Frozen {
		return "failed: nothing typed reaches a stopped process" +
			step.Numbered(a.Life.PID, ": kill -CONT %d lets it go on"), false
	}
	if len(text) > city.MaxSend { // which no configuration lets through
		return fmt.Sprintf("failed: the text has %d bytes, and %d are the most that can be typed",
			len(text), city.MaxSend), false
	}
	id, problem := wd.city.Type(now, a.Name, t.want.Name, text)
	if problem != "" {
		return "failed: " + problem, false
	}
	t.typing, t.typed = id, now
	return "on its way", true
}

// retract takes a tier's text back that waits.
func (wd *Watchdogs) retract(now time.Time, t *tier, why string) {
	if t.typing != 0 {
		wd.city.TakeBack(now, t.want.Watches, t.typing, why)
	}
}

// Typed takes what has become of a watchdog's text.
func (wd *Watchdogs) Typed(watchdog string, text Text) {
	t := wd.tier(watchdog)
	if t == nil || t.typing != text.ID {
		return
	}
	t.typing = 0
	result := "typed"
	if text.Dropped {
		result = "failed: " + text.Why
	}
	if text.Withdrew && text.Dropped {
		result = "taken back: " + text.Why
	}
	for i := range slices.Backward(t.recent) {
		if j := &t.recent[i]; j.At.Equal(t.typed) {
			j.Result = result
			if t.last != nil && t.last.At.Equal(j.At) {
				last := *t.last
				last.Result = result
				t.last = &last
			}
			wd.out.Changed = true
			wd.tellAct(t, j)
			return
		}
	}
}

// recovered tells that what had failed is well again.
func (wd *Watchdogs) recovered(t *tier) {
	t.esc, t.owed, t.line, wd.out.Changed = nil, false, "", true
	wd.out.Note(&t.unposted, "")
	wd.tellTier(t, events.Event{Type: events.WatchdogRecovered, Actor: effect.ActorController,
		Message: t.want.Watches + " is heard of again"}, map[string]any{"watches": t.want.Watches})
}

// escalate calls a person when nothing has helped, once until it is better.
func (wd *Watchdogs) escalate(now time.Time, t *tier, reason string) {
	w := &t.want
	if t.esc == nil && t.chain.Failed >= w.EscalateAfter {
		msg := fmt.Sprintf("%s is not well, and %d starts and wakes in a row did not help: %s",
			w.Watches, t.chain.Failed, reason)
		if t.chain.Failed == 1 {
			msg = fmt.Sprintf("%s is not well, and what was done did not help: %s", w.Watches,
				reason)
		}
		t.esc, t.owed, t.line, wd.out.Changed = &city.Escalation{At: now, To: w.EscalateTo,
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
func (wd *Watchdogs) post(t *tier) {
	if wd.posting[t.want.Name] { // the next beat tries again
		return
	}
	wd.posting[t.want.Name] = true
	command := t.line
	t.line = ""
	wd.out.Do(effect.Escalate{
		Tier: t.want.Name, Call: t.esc.At, To: t.want.EscalateTo, From: "watchdog " + t.want.Name,
		Subject: t.want.Watches + " is not well",
		Text:    wd.letter(t),
		Command: command, In: wd.city.Configuration().Source,
		Env: []string{"GC_WATCHDOG=" + t.want.Name, "GC_WATCHDOG_WATCHES=" + t.want.Watches,
			"GC_WATCHDOG_FAILED=" + strconv.Itoa(t.chain.Failed),
			"GC_WATCHDOG_REASON=" + t.esc.Message},
	})
}

// letter is the text of an escalation: what is wrong, what was tried, what to do.
func (wd *Watchdogs) letter(t *tier) string {
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

// Escalated takes what has become of an escalation.
func (wd *Watchdogs) Escalated(in effect.Escalated) {
	for _, e := range in.Events {
		wd.out.Do(effect.Record{Event: e})
	}
	if len(in.Events) > 0 {
		wd.city.CountWork()
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
	wd.out.Note(&t.unposted, in.Err)
}
