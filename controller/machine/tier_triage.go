package machine

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/screen"
	"gcity/restart"
	"gcity/session"
	"gcity/watchdog"
)

// triageGrace is how long a triage that has decided may take to end by itself.
const triageGrace = 10 * time.Second

// summons is what a triage is started for: one beat, and for nothing else.
type summons struct {
	tier, beat string
	env        []string
	brief      effect.Brief
	judged     bool
	until      time.Time // it is ended then at the latest
}

// called reports that an agent is started by the beats of a watchdog alone.
func (a *record) called() bool { return a.triageOf() != "" }

func (a *record) triageOf() string {
	if a.want == nil {
		return ""
	}
	return a.want.TriageOf
}

// summoned reports that it is to be started: the beat waits, and it has not had its one life for it.
func (a *record) summoned() bool {
	return a.triage.summon != nil && !a.triage.summon.judged &&
		a.triage.served != a.triage.summon.beat
}

// rededicate takes that an agent becomes a triage, or is none any more. What it was says nothing of what it is
// now, and a session that was started for a beat outlives nobody's beats.
func (wd *watchdogs) rededicate(a *record, w *agent.Want) {
	if was := a.triageOf(); a.want == nil || (was == "") == (w.TriageOf == "") {
		return
	} else if was != "" && a.triage.served != "" && (a.sess.alive || a.act.op == opStart) {
		a.act.intent = cause{kind: causeBeat, why: "it was started for a beat, and is no " +
			"triage any more"}
	}
	a.forgive("")
	a.triage.summon, a.triage.unfit = nil, ""
}

// noTriage says why a tier's triage cannot be asked, "" if it can.
func (wd *watchdogs) noTriage(t *tier) string {
	a := wd.m.agents[t.want.Triage]
	switch {
	case a == nil || a.want == nil:
		return fmt.Sprintf("triage %s is not declared", t.want.Triage)
	case a.want.Suspended != "":
		return fmt.Sprintf("triage %s is suspended %s", a.name, a.want.Suspended)
	case a.want.Problem != "":
		return fmt.Sprintf("triage %s cannot be started: %s", a.name, a.want.Problem)
	}
	return ""
}

// overdueTriage says why the thresholds judge a beat whose time is over.
func (wd *watchdogs) overdueTriage(t *tier) string {
	if a := wd.m.agents[t.want.Triage]; a.triage.served != t.beat.id {
		return fmt.Sprintf("triage %s was not started within %s: %s", a.name, t.want.TriageTTL,
			standing(a))
	}
	return fmt.Sprintf("triage %s said nothing within %s", t.want.Triage, t.want.TriageTTL)
}

// triage has a beat judged by the tier's triage, if it can be.
func (wd *watchdogs) triage(now time.Time, t *tier, a *record, f watchdog.Facts,
	v watchdog.Verdict) bool {
	if t.want.Triage == "" {
		return false
	}
	if why := wd.noTriage(t); why != "" {
		wd.degrade(t, why)
		return false
	}
	b := &beat{id: t.want.Name + "-" + now.UTC().Format("20060102T150405.000"), at: now,
		until: now.Add(t.want.TriageTTL)}
	if a.sess.alive {
		b.session = a.sess.life.ID
	}
	t.beat, wd.m.step.Changed = b, true
	scout := wd.m.agents[t.want.Triage]
	scout.triage.summon, scout.triage.unfit = wd.summons(t, a, f, v), ""
	wd.answerBeat(t, fmt.Sprintf("triage %s judges the beat %s of watchdog %s", scout.name, b.id,
		t.want.Name))
	wd.m.decide(now, scout)
	return true
}

// report is what a triage finds in its file. Ages are in seconds.
type report struct {
	Watchdog  string     `json:"watchdog"`
	Beat      string     `json:"beat"`
	Watches   string     `json:"watches"`
	Session   string     `json:"session"` // "alive" or "dead"
	State     city.State `json:"state"`
	Why       string     `json:"why"`
	Heartbeat *time.Time `json:"heartbeat,omitempty"`
	Age       float64    `json:"age"`
	Freshness string     `json:"freshness"`
	Mail      int        `json:"mail"`
	Silent    *float64   `json:"silent,omitempty"`
	Frozen    bool       `json:"frozen"`
	Stuck     bool       `json:"stuck"`
	Task      string     `json:"task,omitempty"`
	Gate      string     `json:"gate,omitempty"` // that the task awaits
	Healthy   *int       `json:"healthy_agents,omitempty"`
	Unhealthy *int       `json:"unhealthy_agents,omitempty"`
	Problem   string     `json:"problem,omitempty"`
	CanType   bool       `json:"can_type"`
	Failed    int        `json:"failed"`
	Advice    string     `json:"advice"`
	Reason    string     `json:"reason"`
	Until     time.Time  `json:"until"`
}

// summons puts the facts of a beat into words for a triage: a file, and the same as variables for shell scripts.
func (wd *watchdogs) summons(t *tier, a *record, f watchdog.Facts, v watchdog.Verdict) *summons {
	r := report{
		Watchdog: t.want.Name, Beat: t.beat.id, Watches: a.name, Session: "dead", State: a.state,
		Why: a.reason, Age: f.Age.Seconds(), Freshness: string(v.Freshness),
		Mail: f.Mail, Frozen: f.Frozen, Stuck: f.Stuck, Task: wd.m.work.tasks[a.name], Gate: f.Gate,
		Healthy: t.agents.Healthy, Unhealthy: t.agents.Unhealthy, Problem: f.Problem,
		CanType: f.CannotBe == "", Failed: t.chain.Failed,
		Advice: string(v.Decision), Reason: v.Reason, Until: t.beat.until.UTC(),
	}
	if f.Alive {
		r.Session = "alive"
	}
	if !t.hb.Stamp.IsZero() {
		r.Heartbeat = &t.hb.Stamp
	}
	silent := ""
	if f.Speaks {
		s := f.Silent.Seconds()
		r.Silent, silent = &s, strconv.Itoa(int(s))
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil { // numbers and texts always can be
		data = []byte("{}")
	}
	s := &summons{tier: t.want.Name, beat: t.beat.id, until: t.beat.until}
	s.brief = effect.Brief{Path: filepath.Join(wd.m.conf.Dir, ".gc", "watchdogs",
		session.Encode(t.want.Name)+".json"), Data: append(data, '\n')}
	s.env = []string{
		"GC_WATCHDOG=" + t.want.Name, "GC_WATCHDOG_BEAT=" + t.beat.id,
		"GC_WATCHDOG_WATCHES=" + a.name, "GC_WATCHDOG_FACTS=" + s.brief.Path,
		"GC_WATCHDOG_SESSION=" + r.Session, "GC_WATCHDOG_AGE=" + strconv.Itoa(int(r.Age)),
		"GC_WATCHDOG_FRESHNESS=" + r.Freshness, "GC_WATCHDOG_MAIL=" + strconv.Itoa(r.Mail),
		"GC_WATCHDOG_SILENT=" + silent, "GC_WATCHDOG_FROZEN=" + strconv.FormatBool(r.Frozen),
		"GC_WATCHDOG_ADVICE=" + r.Advice, "GC_WATCHDOG_REASON=" + r.Reason,
		"GC_WATCHDOG_HEALTHY_AGENTS=" + numeral(r.Healthy), "GC_WATCHDOG_UNHEALTHY_AGENTS=" +
			numeral(r.Unhealthy),
	}
	return s
}

// numeral writes a number that may be unknown; "" = it is.
func numeral(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// outfit is what an agent is started with, just now.
func (a *record) outfit() effect.Start {
	if a.triage.summon == nil || !a.called() {
		return effect.Start{Want: a.want}
	}
	w := *a.want
	w.Spec.Env = slices.Concat(w.Spec.Env, a.triage.summon.env)
	return effect.Start{Want: &w, Brief: &a.triage.summon.brief}
}

// offBeat is why a triage's session is ended.
func (a *record) offBeat(now time.Time) cause {
	s := a.triage.summon
	switch {
	case s == nil || a.triage.served != s.beat:
		return cause{kind: causeBeat, why: "it is of a beat that is over"}
	case s.judged && !now.Before(s.until):
		return cause{kind: causeBeat, why: "it has decided, and did not end by itself"}
	}
	return cause{}
}

// waitsForBeat shows a triage that has nothing to do.
func (wd *watchdogs) waitsForBeat(now time.Time, a *record) {
	a.act.intent = cause{}
	wd.m.resolve(a, "agent "+a.name+" was ended", "kill")
	wd.m.refuseAll(wd.m.takeWaiters(a, "restart"), city.Conflict,
		fmt.Sprintf("agent %s is the triage of watchdog %s now, and is started by its beats alone",
			a.name, a.want.TriageOf))
	if a.triage.unfit != "" {
		wd.m.set(now, a, city.Failed, a.triage.unfit, time.Time{})
		return
	}
	wd.m.set(now, a, city.Exited, "the triage of watchdog "+a.want.TriageOf+
		", started by its beats",
		time.Time{})
}

// triageOver takes the end of a triage's session, or of its start. No end of it counts as a crash: it is told at
// its tier.
func (wd *watchdogs) triageOver(now time.Time, a *record, why string) {
	s := a.triage.summon
	a.rest.left, a.rest.hold, a.rest.notBefore, a.rest.fell = false, "", time.Time{}, false
	if s == nil || a.triage.served != s.beat {
		return
	}
	a.triage.summon = nil
	if t := wd.tier(s.tier); t != nil && t.beat != nil && t.beat.id == s.beat {
		wd.instead(now, t, fmt.Sprintf("triage %s %s", a.name, why))
	}
}

// triageUnfit takes a start of a triage that failed.
func (wd *watchdogs) triageUnfit(now time.Time, a *record, err error) {
	a.sess.alive, a.triage.unfit = false, err.Error()
	wd.m.decided(now, a, "start failed", a.triage.unfit)
	wd.triageOver(now, a, "could not be started: "+a.triage.unfit)
}

// instead has the thresholds judge the beat of a triage, by how things are now.
func (wd *watchdogs) instead(now time.Time, t *tier, why string) {
	t.beat, wd.m.step.Changed = nil, true
	wd.degrade(t, why)
	wd.dismiss(now, t)
	if t.rests != "" {
		return
	}
	t.instead = why
	wd.beginBeat(t)
}

// abandon drops a beat that nobody wants to be judged any more.
func (wd *watchdogs) abandon(now time.Time, t *tier) {
	if t.beat == nil {
		return
	}
	t.beat, wd.m.step.Changed = nil, true
	wd.dismiss(now, t)
}

// dismiss ends a triage that is not to judge any more.
func (wd *watchdogs) dismiss(now time.Time, t *tier) {
	if a := wd.m.agents[t.want.Triage]; a != nil && a.triage.summon != nil &&
		a.triage.summon.tier == t.want.Name {
		a.triage.summon = nil
		wd.m.decide(now, a)
	}
}

// degrade shows, and tells once, that a tier is judged otherwise than is declared.
func (wd *watchdogs) degrade(t *tier, why string) {
	if t.degraded == why {
		return
	}
	t.degraded, wd.m.step.Changed = why, true
	wd.tellTier(t, events.Event{Type: events.WatchdogDegraded, Actor: effect.ActorController,
		Message: why + "; the thresholds judge"}, nil)
}

// decideBeat takes the word of a triage, or a person's in its place.
func (wd *watchdogs) decideBeat(now time.Time, id uint64, c city.Decide) {
	t := wd.findTier(id, c.Watchdog)
	if t == nil {
		return
	}
	b, reason := t.beat, screen.Plain(strings.Join(strings.Fields(c.Reason), " "))
	if code, why := t.refuses(c.Beat, reason); why != "" {
		wd.m.step.Refuse(id, code, why)
		return
	}
	by := c.By
	if by == "" {
		by = t.want.Triage
	}
	scout := wd.m.agents[t.want.Triage]
	if scout != nil && scout.triage.summon != nil && scout.triage.summon.beat == b.id {
		scout.triage.summon.judged, scout.triage.summon.until = true,
			now.Add(min(triageGrace, t.want.TriageTTL))
		scout.triage.unfit = ""
	}
	t.beat, wd.m.step.Changed = nil, true
	if by == t.want.Triage {
		t.word = now
	}
	if wd.spares(now, t, by, c.Decision) {
		wd.m.step.Reply(id, wd.overrule(t, c.Decision))
		wd.m.decide(now, scout)
		return
	}
	if by == t.want.Triage && t.degraded != "" {
		t.degraded = ""
		wd.tellTier(t, events.Event{Type: events.WatchdogRestored, Actor: by,
			Message: "triage " + by + " judges again"}, nil)
	}
	msg := fmt.Sprintf("watchdog %s: %s", t.want.Name, c.Decision)
	j := judge{by: by, took: now.Sub(b.at), beat: b}
	if c.Decision != city.RemedyNothing {
		wd.tellTier(t, events.Event{Type: events.WatchdogTriaged, Actor: by,
			Message: fmt.Sprintf("%s: %s", c.Decision, reason)},
			map[string]any{"watches": t.want.Watches, "decision": c.Decision, "reason": reason,
				"beat": b.id, "duration_ms": j.took.Milliseconds()},
			effect.Answer{ID: id, Receipt: city.Receipt{Message: msg}})
	}
	wd.judged(now, t, watchdog.Verdict{Decision: watchdog.Decision(c.Decision), Reason: reason}, j)
	if c.Decision == city.RemedyNothing {
		wd.m.step.Reply(id, msg)
	}
	if scout != nil {
		wd.m.decide(now, scout)
	}
}

// refuses returns why a decision about a beat is not accepted, "" if it is.
func (t *tier) refuses(beat, reason string) (code city.Code, why string) {
	b, name := t.beat, t.want.Name
	switch {
	case reason == "":
		return city.Invalid, "a decision needs a reason: whoever reads of it wants to know why"
	case b == nil && beat != "":
		return city.Conflict, fmt.Sprintf("the beat %s of watchdog %s is over%s", beat, name,
			t.outcome())
	case b == nil:
		return city.Conflict, fmt.Sprintf("no beat of watchdog %s waits for a decision%s; `gcity "+
			"watchdog triage %s` has it look now", name, t.outcome(), name)
	case beat != "" && beat != b.id:
		return city.Conflict, fmt.Sprintf("the beat %s of watchdog %s is over; %s is "+
			"being judged now", beat, name, b.id)
	}
	return "", ""
}

// spares counts a decision that does less than the thresholds would. It reports whether the thresholds overrule it.
func (wd *watchdogs) spares(now time.Time, t *tier, by string, d city.Remedy) bool {
	a := wd.m.agents[t.want.Watches]
	if by != t.want.Triage || a == nil {
		d = ""
	}
	if a != nil {
		t.chain = t.chain.Spare(wd.heard(now, t, a), watchdog.Judge(t.spec(), wd.facts(now, t, a)),
			watchdog.Decision(d))
	}
	return t.chain.Spared > 0 && t.chain.Spared >= t.want.OverruleAfter
}

// overrule has the thresholds judge a beat again, by a new look, in place of its triage. It returns what the
// triage is told.
func (wd *watchdogs) overrule(t *tier, d city.Remedy) string {
	t.instead = fmt.Sprintf("triage %s neither started nor woke %s, and overrule_after = %d "+
		"beats brought no heartbeat",
		t.want.Triage, t.want.Watches, t.want.OverruleAfter)
	wd.degrade(t, t.instead)
	wd.beginBeat(t)
	return fmt.Sprintf("watchdog %s: %s is overruled: %s; the thresholds judge", t.want.Name, d,
		t.instead)
}

// outcome says what the newest beat came to.
func (t *tier) outcome() string {
	if t.last == nil {
		return ""
	}
	return fmt.Sprintf(": %s decided %s at %s", t.last.By, t.last.Decision,
		t.last.At.UTC().Format(time.RFC3339))
}

// triageDied takes an end of a triage that nobody asked for. One that kept it from deciding is told with its last
// words, once as long as it goes on like that.
func (wd *watchdogs) triageDied(now time.Time, a *record, e session.Exit, d restart.Death) {
	why := "ended without a decision: " + d.String()
	wd.m.decided(now, a, "died", d.String())
	s := a.triage.summon
	if t := wd.tier(a.want.TriageOf); t != nil && s != nil && !s.judged &&
		(e.Code != 0 || e.Signal != "") && t.degraded != fmt.Sprintf("triage %s %s", a.name, why) {
		wd.m.tellDeath(now, a, e, restart.Verdict{Crash: true})
	}
	wd.triageOver(now, a, why)
}
