package tier

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/suggest"
	"gcity/watchdog"
)

const thresholds = "thresholds"

type judgement struct {
	by   string
	why  string // why the thresholds decided in place of the triage agent
	took time.Duration
	beat *beat // nil if the thresholds decided
}

func (wd *Watchdogs) judged(now time.Time, t *tier, v watchdog.Verdict, by judgement) {
	if v.Decision != watchdog.Wake && v.Decision != watchdog.Nudge {
		wd.retract(now, t, fmt.Sprintf("superseded by the next check, which decided %q (%s)",
			v.Decision, v.Reason))
	}
	j := &city.Judgement{At: now, Decision: city.Remedy(v.Decision), Reason: v.Reason, By: by.by,
		Took: by.took}
	if by.why != "" {
		j.Reason += " (" + by.why + ")"
	}
	t.last, wd.out.Changed = j, true
	wd.replyToBeat(t, "watchdog %s decided %q: %s", t.want.Name, j.Decision, j.Reason)
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
		wd.recordAct(t, j)
	}
}

func (wd *Watchdogs) recordAct(t *tier, j *city.Judgement) {
	wd.record(t, events.Event{Type: events.WatchdogActed,
		Message: fmt.Sprintf("%s %s: %s; %s", j.Decision, t.want.Watches, j.Result, j.Reason)},
		map[string]any{"watches": t.want.Watches, "decision": j.Decision, "reason": j.Reason,
			"by": j.By, "result": j.Result, "failed": t.chain.Failed})
}

func (wd *Watchdogs) record(t *tier, e events.Event, about map[string]any,
	replies ...effect.Reply) {
	e.Subject = t.want.Name
	if about != nil {
		e.Payload = step.Payload(about)
	}
	wd.city.Record(e, replies...)
}

// If waits is true, the result is reported later.
func (wd *Watchdogs) remedy(now time.Time, t *tier, v watchdog.Verdict,
	by judgement) (result string,
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
		return "no session to type into; " + wd.ensure(now, a, why, fresh, by.beat), false
	case f.WhyNoWake() != "" && v.Decision == watchdog.Wake && !fresh:
		return f.WhyNoWake() + "; " + wd.city.Replace(now, a.Name, why), false
	case f.CannotType != "":
		return "failed: " + f.CannotType, false
	}
	return wd.typeFor(now, t, a, text)
}

// ensure starts an agent. It ends the agent's wait, but not a quarantine (L2). It restarts a running agent only if the
// heartbeat is not fresh and the session is still the one that the beat judged.
func (wd *Watchdogs) ensure(now time.Time, a *Agent, why string, fresh bool, b *beat) string {
	switch {
	case a.TriageOf != "":
		o := wd.tier(a.TriageOf)
		if o == nil || o.paused != "" || o.beat != nil || wd.reading[o.want.Name] {
			return "watchdog " + a.TriageOf + " is already deciding, or is suspended"
		}
		wd.beginBeat(o)
		return "watchdog " + o.want.Name + " is starting a check"
	case a.Starting || a.Alive && !a.Ready:
		return LeftAlone + "the agent is already starting"
	case a.Stopping:
		return LeftAlone + "the agent is being stopped, and will restart if it should be running"
	case a.Alive && (b != nil && b.session != a.Life.ID || b == nil):
		return LeftAlone + "the agent was started in the meantime"
	case a.Alive && fresh:
		return LeftAlone + "the agent is running, and its heartbeat is fresh"
	case a.Alive:
		return wd.city.Replace(now, a.Name, why)
	case a.Problem != "":
		return "failed: the agent cannot start: " + a.Problem
	case now.Before(a.QuarantinedUntil):
		return "not started: " + StateText(a.State, a.Reason)
	}
	return wd.city.Start(now, a.Name, why)
}

func (wd *Watchdogs) typeFor(now time.Time, t *tier, a *Agent, text string) (result string,
	waits bool) {
	if t.typing != 0 {
		return "failed: the nudge from an earlier check is still queued (" +
			wd.city.MessageReason(a.Name, t.typing) + ")", false
	}
	if a.Life.Frozen {
		return "failed: the process is stopped and does not read input" +
			step.Numbered(a.Life.PID, "; `kill -CONT %d` resumes it"), false
	}
	if len(text) > city.MaxSend { // cannot happen, because the configuration limits the text
		return fmt.Sprintf("failed: the nudge has %d bytes, but the maximum is %d",
			len(text), city.MaxSend), false
	}
	id, problem := wd.city.Type(now, a.Name, t.want.Name, text)
	if problem != "" {
		return "failed: " + problem, false
	}
	t.typing, t.typed = id, now
	return "queued", true
}

func (wd *Watchdogs) retract(now time.Time, t *tier, why string) {
	if t.typing != 0 {
		wd.city.TakeBack(now, t.want.Watches, t.typing, why)
	}
}

// Typed handles the result of a watchdog's nudge.
func (wd *Watchdogs) Typed(watchdog string, text SentMessage) {
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
		result = "canceled: " + text.Why
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
			wd.recordAct(t, j)
			return
		}
	}
}

func (wd *Watchdogs) recovered(t *tier) {
	t.escalation, t.escalationPending, t.command, wd.out.Changed = nil, false, "", true
	wd.out.Note(&t.escalationProblem, "")
	wd.record(t, events.Event{Type: events.WatchdogRecovered,
		Message: t.want.Watches + " is healthy again"},
		map[string]any{"watches": t.want.Watches})
}

// at most once until the agent has recovered
func (wd *Watchdogs) escalate(now time.Time, t *tier, reason string) {
	w := &t.want
	if t.escalation == nil && t.chain.Failed >= w.EscalateAfter {
		msg := fmt.Sprintf("%s is unhealthy, and the last %d actions did not help: %s",
			w.Watches, t.chain.Failed, reason)
		if t.chain.Failed == 1 {
			msg = fmt.Sprintf("%s is unhealthy, and the last action did not help: %s", w.Watches,
				reason)
		}
		t.escalation, t.escalationPending, t.command, wd.out.Changed = &city.Escalation{At: now,
			To:      w.EscalateTo,
			Message: msg}, true, w.EscalateCommand, true
		wd.record(t, events.Event{Type: events.WatchdogEscalated,
			Message: msg}, map[string]any{"watches": w.Watches, "failed": t.chain.Failed,
			"to": w.EscalateTo})
	}
	if t.escalationPending && t.escalation != nil {
		wd.sendEscalation(t)
	}
}

func (wd *Watchdogs) sendEscalation(t *tier) {
	if wd.escalating[t.want.Name] { // the next beat tries again
		return
	}
	wd.escalating[t.want.Name] = true
	command := t.command
	t.command = ""
	wd.out.Do(effect.Escalate{
		Tier: t.want.Name, Call: t.escalation.At, To: t.want.EscalateTo,
		From:    city.WatchdogSender + t.want.Name,
		Subject: t.want.Watches + " is unhealthy",
		Text:    wd.mailText(t),
		Command: command, In: wd.city.Configuration().Source,
		Env: []string{"GC_WATCHDOG=" + t.want.Name, "GC_WATCHDOG_WATCHES=" + t.want.Watches,
			"GC_WATCHDOG_FAILED=" + strconv.Itoa(t.chain.Failed),
			"GC_WATCHDOG_REASON=" + t.escalation.Message},
	})
}

func (wd *Watchdogs) mailText(t *tier) string {
	text := t.escalation.Message + "\n\nWhat was tried:\n"
	for i := max(0, len(t.recent)-t.chain.Failed); i < len(t.recent); i++ {
		j := &t.recent[i]
		text += fmt.Sprintf("- %s %s, by %s: %s (%s)\n", j.At.UTC().Format(time.RFC3339),
			j.Decision, j.By, j.Reason, j.Result)
	}
	return text + fmt.Sprintf("\nTo inspect the agent: gcity why %s; gcity agent peek %s\n"+
		"To acknowledge this call: gcity watchdog acknowledge "+
		"%s\n", t.want.Watches, t.want.Watches,
		t.want.Name)
}

// Escalated handles the result of an escalation.
func (wd *Watchdogs) Escalated(in effect.Escalated) {
	for _, e := range in.Events {
		wd.out.Do(effect.Record{Event: e})
	}
	if len(in.Events) > 0 {
		wd.city.CountWork()
	}
	delete(wd.escalating, in.Tier)
	t := wd.tier(in.Tier)
	if t == nil {
		return
	}
	if in.Ran {
		msg := "escalate_command: ok"
		if in.Failed != "" {
			msg = "escalate_command failed: " + in.Failed
		}
		wd.record(t, events.Event{Type: events.WatchdogCommand,
			Message: msg}, map[string]any{"output": in.Output})
	}
	if t.escalation == nil || !t.escalation.At.Equal(in.Call) {
		return
	}
	t.escalationPending = in.Err != ""
	wd.out.Note(&t.escalationProblem, in.Err)
}

func (wd *Watchdogs) findTier(id uint64, name string) *tier {
	if t := wd.tier(name); t != nil {
		return t
	}
	var names []string
	for _, t := range wd.tiers {
		names = append(names, t.want.Name)
	}
	wd.out.Reject(id, city.NotFound, "%v", suggest.NotFound(suggest.Watchdog, name, names))
	return nil
}

// BeatNow starts a beat early. The reply is sent when the result is known, or when a triage agent is started.
func (wd *Watchdogs) BeatNow(id uint64, c city.Beat) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.paused != "":
		wd.out.Reject(id, city.Conflict, "watchdog %s is suspended: %s",
			t.want.Name,
			t.paused)
	case t.beat != nil:
		wd.out.Reply(id, "triage agent %s is already deciding check %s of watchdog %s",
			t.want.Triage, t.beat.id, t.want.Name)
	case !wd.city.Listed():
		wd.out.Reject(id, city.Unavailable, "the sessions have not been listed yet; try again "+
			"in a moment")
	default:
		t.waiters = append(t.waiters, id)
		wd.beginBeat(t)
	}
}

func (wd *Watchdogs) replyToBeat(t *tier, format string, args ...any) {
	for _, id := range t.waiters {
		wd.out.Reply(id, format, args...)
	}
	t.waiters = nil
}

func (wd *Watchdogs) Acknowledge(id uint64, c city.Acknowledge) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.escalation == nil:
		wd.out.Reject(id, city.Conflict, "watchdog %s is not calling a user, so "+
			"there is nothing to acknowledge", t.want.Name)
	case t.escalation.Seen:
		wd.out.Reply(id, "the call from watchdog %s was already acknowledged by %s",
			t.want.Name, t.escalation.By)
	default:
		seen := *t.escalation
		seen.Seen, seen.By = true, cmp.Or(c.By, effect.ActorOperator)
		t.escalation, wd.out.Changed = &seen, true
		wd.record(t, events.Event{Type: events.WatchdogAcknowledged, Actor: seen.By,
			Message: seen.Message}, map[string]any{"watches": t.want.Watches},
			effect.Reply{ID: id, Receipt: city.Receipt{
				Message: fmt.Sprintf("the call from watchdog %s was acknowledged",
					t.want.Name)}})
	}
}
