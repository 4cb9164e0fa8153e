package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
)

// These are the texts that the world's watchdogs type.
const (
	dogNudge = "check-in"
	dogWake  = "wake up"
)

type watchdogWorld struct {
	dogs   map[string]config.Watchdog
	files  map[string]effect.HeartbeatRead // by path
	letter map[string]int                  // number of unread messages, by agent
	refuse string                          // reason why no mail can be sent
	looks  int
	spare  map[string]config.Watchdog
}

func newWatchdogWorld() watchdogWorld {
	return watchdogWorld{dogs: map[string]config.Watchdog{}, files: map[string]effect.HeartbeatRead{},
		letter: map[string]int{}}
}

func (w *world) tend(f effect.Effect) (effect.Input, bool) {
	switch f := f.(type) {
	case effect.ReadHeartbeat:
		w.watchdogs.looks++
		in := w.watchdogs.files[f.Path]
		in.Tier, in.Path = f.Tier, f.Path
		return in, true
	case effect.Escalate:
		in := effect.Escalated{Tier: f.Tier, Call: f.Call, Err: w.watchdogs.refuse,
			Ran: f.Command != ""}
		if in.Err == "" {
			w.note("mail from %s to %s: %s", f.From, f.To, f.Subject)
			for line := range strings.SplitSeq(strings.TrimSpace(f.Text), "\n") {
				w.note("  | %s", line)
			}
			in.Events = []events.Event{{Type: events.MailSent, Actor: f.From, Subject: "app-9"}}
		}
		if f.Command != "" {
			w.note("run %s with %s", f.Command, strings.Join(f.Env, " "))
		}
		return in, true
	}
	return nil, false
}

func (w *world) keep(words []string) error {
	d := config.Watchdog{Name: words[0], Every: 3 * time.Minute, Fresh: 5 * time.Minute,
		VeryStale: 15 * time.Minute, Nudge: dogNudge, Wake: dogWake,
		TriageTTL: 5 * time.Minute, OverruleAfter: 3, EscalateTo: "human", EscalateAfter: 3,
		Origin: config.Origin{File: "city.toml", Line: 9, Column: 1}}
	for _, kv := range words[1:] {
		key, value, _ := strings.Cut(kv, "=")
		t, _ := time.ParseDuration(value)
		switch key {
		case "watches":
			d.Watches = value
		case "triage":
			d.Triage = value
		case "every":
			d.Every = t
		case "fresh":
			d.Fresh = t
		case "very_stale":
			d.VeryStale = t
		case "ttl":
			d.TriageTTL = t
		case "to":
			d.EscalateTo = value
		case "command":
			d.EscalateCommand = value
		case "overrule":
			fmt.Sscan(value, &d.OverruleAfter)
		case "after":
			fmt.Sscan(value, &d.EscalateAfter)
		case "file":
			d.Heartbeat = "/app/" + config.HeartbeatFile(value)
		case "off":
			delete(w.watchdogs.dogs, d.Name)
			return nil
		default:
			return fmt.Errorf("no such key: %s", key)
		}
	}
	if d.Heartbeat == "" {
		d.Heartbeat = "/app/" + config.HeartbeatFile(d.Watches)
	}
	w.watchdogs.dogs[d.Name] = d
	return nil
}

func (w *world) kennels(c *effect.Configuration) {
	for _, d := range w.watchdogs.dogs {
		c.Tiers = append(c.Tiers, d)
		for i := range c.Wants {
			if c.Wants[i].Name == d.Triage {
				c.Wants[i].TriageOf = d.Name
			}
		}
	}
	slices.SortFunc(c.Tiers, func(a, b config.Watchdog) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// beats simulates an agent's heartbeat file. The parameter how is an age, "gone", "broken" with a reason, or "unread"
// with a reason.
func (w *world) beats(agent string, how []string) error {
	path := "/app/" + config.HeartbeatFile(agent)
	switch {
	case len(how) == 0:
		w.watchdogs.files[path] = effect.HeartbeatRead{Stamp: w.now}
	case how[0] == "gone":
		delete(w.watchdogs.files, path)
	case how[0] == "unread":
		w.watchdogs.files[path] = effect.HeartbeatRead{Problem: "its heartbeat " +
			strings.Join(how[1:], " "), ReadFailed: true}
	case how[0] == "broken":
		w.watchdogs.files[path] = effect.HeartbeatRead{Problem: "its heartbeat " +
			strings.Join(how[1:], " ")}
	default:
		age, err := time.ParseDuration(how[0])
		w.watchdogs.files[path] = effect.HeartbeatRead{Stamp: w.now.Add(-age)}
		return err
	}
	return nil
}

// tierDecide parses a decision: WATCHDOG DECISION [beat=…] [by=…] [REASON].
func tierDecide(args []string) city.Decide {
	c := city.Decide{Watchdog: args[0], Decision: city.Remedy(args[1])}
	for _, word := range args[2:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "beat":
			c.Beat = value
		case "by":
			c.By = value
		default:
			c.Reason = strings.TrimSpace(c.Reason + " " + word)
		}
	}
	return c
}

func (w *world) showTiers() []string {
	var out []string
	at := func(t time.Time) string { return t.Sub(w.begun).Round(time.Millisecond).String() }
	for _, d := range w.m.Snapshot(w.now).Watchdogs {
		line := fmt.Sprintf("%s watches %s by %s: %s", d.Name, d.Watches, d.Mode, d.Freshness)
		if d.Heartbeat != nil {
			line += " since " + at(d.Heartbeat.Round(time.Second))
		}
		if d.Degraded != "" {
			line += "; degraded: " + d.Degraded
		}
		if d.Problem != "" {
			line += "; " + d.Problem
		}
		if d.Suspended {
			line += "; suspended"
		}
		if d.Next != nil {
			line += "; next " + at(*d.Next)
		}
		if r := d.Triaged; r != nil {
			line += fmt.Sprintf("; triage of %s since %s until %s", r.Beat, at(r.Since),
				at(r.Until))
		}
		if j := d.Last; j != nil {
			line += fmt.Sprintf("; last %s %s by %s, %s", at(j.At), j.Decision, j.By, j.Reason)
			if j.Result != "" {
				line += " -> " + j.Result
			}
		}
		if d.Failed > 0 {
			line += fmt.Sprintf("; %d failed", d.Failed)
		}
		if e := d.Escalated; e != nil {
			line += fmt.Sprintf("; calls %s since %s, seen %t", e.To, at(e.At), e.Seen)
		}
		out = append(out, line)
	}
	return out
}
