package tier

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/screen"
	"gcity/internal/span"
	"gcity/session"
	"gcity/watchdog"
)

// a triage agent must exit within this time after its decision
const triageGrace = 10 * time.Second

func (wd *Watchdogs) noTriage(t *tier) string {
	a := wd.city.Agent(t.want.Triage)
	switch {
	case a == nil || !a.Declared:
		return fmt.Sprintf("triage agent %s is not declared", t.want.Triage)
	case a.Suspended != "":
		return fmt.Sprintf("triage agent %s is %s", a.Name, a.Suspended)
	case a.Problem != "":
		return fmt.Sprintf("triage agent %s cannot start: %s", a.Name, a.Problem)
	}
	return ""
}

func (wd *Watchdogs) overdueTriage(t *tier) string {
	if a := wd.city.Agent(t.want.Triage); a.LastBeat != t.beat.id {
		return fmt.Sprintf("triage agent %s was not started within %s: %s", a.Name,
			span.Text(t.want.TriageTTL), StateText(a.State, a.Reason))
	}
	return fmt.Sprintf("triage agent %s did not decide within %s", t.want.Triage,
		span.Text(t.want.TriageTTL))
}

func (wd *Watchdogs) triage(now time.Time, t *tier, a *Agent, f watchdog.Facts,
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
	if a.Alive {
		b.session = a.Life.ID
	}
	t.beat, wd.out.Changed = b, true
	triageAgent := wd.city.Agent(t.want.Triage)
	wd.city.StartTriage(triageAgent.Name, wd.request(t, a, f, v))
	wd.replyToBeat(t, "triage agent %s is deciding check %s of watchdog %s",
		triageAgent.Name, b.id, t.want.Name)
	wd.city.Decide(now, triageAgent.Name)
	return true
}

// report is the file for a triage agent. Ages are in seconds.
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
	Gate      string     `json:"gate,omitempty"`
	Healthy   *int       `json:"healthy_agents,omitempty"`
	Unhealthy *int       `json:"unhealthy_agents,omitempty"`
	Problem   string     `json:"problem,omitempty"`
	CanType   bool       `json:"can_type"`
	Failed    int        `json:"failed"`
	Advice    string     `json:"advice"`
	Reason    string     `json:"reason"`
	Until     time.Time  `json:"until"`
}

func (wd *Watchdogs) request(t *tier, a *Agent, f watchdog.Facts,
	v watchdog.Verdict) *TriageRequest {
	agents := t.agentsOf(f)
	r := report{
		Watchdog: t.want.Name, Beat: t.beat.id, Watches: a.Name, Session: "dead", State: a.State,
		Why: a.Reason, Age: f.Age.Seconds(), Freshness: string(v.Freshness),
		Mail: f.Mail, Frozen: f.Frozen, Stuck: f.Stuck, Task: a.Task, Gate: f.Gate,
		Healthy: agents.Healthy, Unhealthy: agents.Unhealthy, Problem: f.Problem,
		CanType: f.CannotType == "", Failed: t.chain.Failed,
		Advice: string(v.Decision), Reason: v.Reason, Until: t.beat.until.UTC(),
	}
	if f.Alive {
		r.Session = "alive"
	}
	if !t.heartbeat.Stamp.IsZero() {
		r.Heartbeat = &t.heartbeat.Stamp
	}
	silent := ""
	if f.SilentKnown {
		s := f.Silent.Seconds()
		r.Silent, silent = &s, strconv.Itoa(int(s))
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil { // cannot happen, because the report contains only numbers and strings
		data = []byte("{}")
	}
	s := &TriageRequest{Tier: t.want.Name, Beat: t.beat.id, Until: t.beat.until}
	s.Brief = effect.Brief{Path: filepath.Join(wd.city.Configuration().Dir, ".gc", "watchdogs",
		session.Encode(t.want.Name)+".json"), Data: append(data, '\n')}
	s.Env = []string{
		"GC_WATCHDOG=" + t.want.Name, "GC_WATCHDOG_BEAT=" + t.beat.id,
		"GC_WATCHDOG_WATCHES=" + a.Name, "GC_WATCHDOG_FACTS=" + s.Brief.Path,
		"GC_WATCHDOG_SESSION=" + r.Session, "GC_WATCHDOG_AGE=" + strconv.Itoa(int(r.Age)),
		"GC_WATCHDOG_FRESHNESS=" + r.Freshness, "GC_WATCHDOG_MAIL=" + strconv.Itoa(r.Mail),
		"GC_WATCHDOG_SILENT=" + silent, "GC_WATCHDOG_FROZEN=" + strconv.FormatBool(r.Frozen),
		"GC_WATCHDOG_ADVICE=" + r.Advice, "GC_WATCHDOG_REASON=" + r.Reason,
		"GC_WATCHDOG_HEALTHY_AGENTS=" + formatNumber(r.Healthy), "GC_WATCHDOG_UNHEALTHY_AGENTS=" +
			formatNumber(r.Unhealthy),
	}
	return s
}

func formatNumber(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func (wd *Watchdogs) fallBack(now time.Time, t *tier, why string) {
	t.beat, wd.out.Changed = nil, true
	wd.degrade(t, why)
	wd.stopTriage(now, t)
	if t.paused != "" {
		return
	}
	t.fallback = why
	wd.beginBeat(t)
}

func (wd *Watchdogs) abandon(now time.Time, t *tier) {
	if t.beat == nil {
		return
	}
	t.beat, wd.out.Changed = nil, true
	wd.stopTriage(now, t)
}

func (wd *Watchdogs) stopTriage(now time.Time, t *tier) {
	wd.city.StopTriage(now, t.want.Triage, t.want.Name)
}

func (wd *Watchdogs) degrade(t *tier, why string) {
	if t.degraded == why {
		return
	}
	t.degraded, wd.out.Changed = why, true
	wd.record(t, events.Event{Type: events.WatchdogDegraded,
		Message: why + "; the thresholds decide"}, nil)
}

// Decide handles the decision of a triage agent, or of a user in its place.
func (wd *Watchdogs) Decide(now time.Time, id uint64, c city.Decide) {
	t := wd.findTier(id, c.Watchdog)
	if t == nil {
		return
	}
	b, reason := t.beat, screen.Plain(strings.Join(strings.Fields(c.Reason), " "))
	if code, why := t.whyRejected(c.Beat, reason); why != "" {
		wd.out.Reject(id, code, "%s", why)
		return
	}
	by := c.By
	if by == "" {
		by = t.want.Triage
	}
	wd.city.Decided(t.want.Triage, b.id, now.Add(min(triageGrace, t.want.TriageTTL)))
	t.beat, wd.out.Changed = nil, true
	if by == t.want.Triage {
		t.decidedAt = now
	}
	if wd.countMilder(now, t, by, c.Decision) {
		wd.out.Reply(id, "%s", wd.overrule(t, c.Decision))
		wd.city.Decide(now, t.want.Triage)
		return
	}
	if by == t.want.Triage && t.degraded != "" {
		t.degraded = ""
		wd.record(t, events.Event{Type: events.WatchdogRestored, Actor: by,
			Message: "triage agent " + by + " is deciding again"}, nil)
	}
	msg := fmt.Sprintf("watchdog %s: %s", t.want.Name, c.Decision)
	j := judgement{by: by, took: now.Sub(b.at), beat: b}
	if c.Decision != city.RemedyNothing {
		wd.record(t, events.Event{Type: events.WatchdogTriaged, Actor: by,
			Message: fmt.Sprintf("%s: %s", c.Decision, reason)},
			map[string]any{"watches": t.want.Watches, "decision": c.Decision, "reason": reason,
				"beat": b.id, "duration_ms": j.took.Milliseconds()},
			effect.Reply{ID: id, Receipt: city.Receipt{Message: msg}})
	}
	wd.judged(now, t, watchdog.Verdict{Decision: watchdog.Decision(c.Decision), Reason: reason}, j)
	if c.Decision == city.RemedyNothing {
		wd.out.Reply(id, "%s", msg)
	}
	wd.city.Decide(now, t.want.Triage)
}

func (t *tier) whyRejected(beat, reason string) (code city.Code, why string) {
	b, name := t.beat, t.want.Name
	switch {
	case reason == "":
		return city.Invalid, "a decision needs a reason, which is shown to users"
	case t.want.Triage == "":
		return city.Conflict, fmt.Sprintf("watchdog %s has no triage agent, so its thresholds "+
			"decide; it does not accept decisions", name)
	case b == nil && beat != "":
		return city.Conflict, fmt.Sprintf("check %s of watchdog %s is over%s", beat, name,
			t.outcome())
	case b == nil:
		return city.Conflict, fmt.Sprintf("watchdog %s has no check that is waiting for a "+
			"decision%s; run `gcity watchdog triage %s` to start a check", name, t.outcome(), name)
	case beat != "" && beat != b.id:
		return city.Conflict, fmt.Sprintf("check %s of watchdog %s is over; the current check "+
			"is %s", beat, name, b.id)
	}
	return "", ""
}

// countMilder counts consecutive decisions that are milder than those of the thresholds. It reports whether the
// thresholds overrule the decision d.
func (wd *Watchdogs) countMilder(now time.Time, t *tier, by string, d city.Remedy) bool {
	a := wd.city.Agent(t.want.Watches)
	if by != t.want.Triage || a == nil {
		d = ""
	}
	if a != nil {
		t.chain = t.chain.Spare(wd.lastSign(now, t, a),
			watchdog.Judge(t.spec(), wd.facts(now, t, a)),
			watchdog.Decision(d))
	}
	return t.chain.Spared > 0 && t.chain.Spared >= t.want.OverruleAfter
}

func (wd *Watchdogs) overrule(t *tier, d city.Remedy) string {
	t.fallback = fmt.Sprintf("triage agent %s neither started nor woke %s in %d successive "+
		"checks that found no new heartbeat (overrule_after)", t.want.Triage, t.want.Watches,
		t.want.OverruleAfter)
	wd.degrade(t, t.fallback)
	wd.beginBeat(t)
	return fmt.Sprintf("watchdog %s overruled the decision %q: %s; the thresholds decide",
		t.want.Name, d,
		t.fallback)
}

func (t *tier) outcome() string {
	if t.last == nil {
		return ""
	}
	return fmt.Sprintf(": %s decided %s at %s", t.last.By, t.last.Decision,
		t.last.At.UTC().Format(time.RFC3339))
}
