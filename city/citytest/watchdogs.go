package citytest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"gcity/city"
)

// doWatchdog executes a command of a watchdog, which only records decisions; f.mu is held. ok is false for other
// commands.
func doWatchdog(f *Fake, c city.Command) (r city.Receipt, ok bool, err error) {
	switch c.(type) {
	case city.Beat, city.Decide, city.Acknowledge:
	default:
		return r, false, nil
	}
	w, known := f.snap.Watchdog(c.Target())
	if !known {
		return r, true, refuse(city.NotFound, "watchdog %q not found", c.Target())
	}
	change := func(*city.Watchdog) {}
	switch c := c.(type) {
	case city.Beat:
		change = func(w *city.Watchdog) { beat(f, w) }
	case city.Decide:
		switch {
		case c.Beat != "" && (w.Triaged == nil || w.Triaged.Beat != c.Beat):
			return r, true, refuse(city.Conflict, "check %s of %s is over", c.Beat, w.Name)
		case c.Reason == "":
			return r, true, refuse(city.Invalid, "a decision needs a reason")
		}
		change = func(w *city.Watchdog) { judge(w, c.Decision, c.Reason, c.By) }
	case city.Acknowledge:
		if !w.Calls() {
			return r, true, refuse(city.Conflict, "%s has not escalated", w.Name)
		}
		change = func(w *city.Watchdog) {
			seen := *w.Escalated
			seen.Seen, seen.By, w.Escalated = true, c.By, &seen
		}
	}
	r = f.prove(c, func(s *city.Snapshot) {
		w, _ := s.Watchdog(c.Target())
		change(w)
	})
	return r, true, nil
}

// beat lets the watchdog's triage agent decide, or else its thresholds.
func beat(f *Fake, w *city.Watchdog) {
	now := time.Now()
	next := now.Add(w.Every)
	w.Next = &next
	if w.Mode == city.ByTriage {
		if w.Triaged == nil {
			w.Triaged = &city.TriageRun{Since: now, Until: now.Add(w.TTL),
				Beat: strconv.Itoa(len(f.log) + 1)}
		}
		return
	}
	decision := map[city.Freshness]city.Remedy{city.Dead: city.RemedyStart,
		city.VeryStale: city.RemedyWake}[w.Freshness]
	switch {
	case decision == city.RemedyWake && w.Mode == city.ByRestart:
		decision = city.RemedyRestart
	case w.Freshness == city.Stale && w.Mail > 0:
		decision = city.RemedyNudge
	case decision == "":
		decision = city.RemedyNothing
	}
	judge(w, decision, fmt.Sprintf("%s is %s", w.Watches, w.Freshness), "thresholds")
}

func judge(w *city.Watchdog, decision city.Remedy, reason, by string) {
	j := city.Judgement{At: time.Now(), Decision: decision, Reason: reason, By: by}
	if w.Triaged != nil {
		j.Took = j.At.Sub(w.Triaged.Since)
	}
	w.Last, w.Triaged = &j, nil
	if decision != city.RemedyNothing {
		w.Recent = append(slices.Clone(w.Recent), j)
	}
}
