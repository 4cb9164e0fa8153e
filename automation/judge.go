package automation

import (
	"fmt"
	"time"

	"gcity/internal/span"
)

const (
	// Late is the maximum delay of a scheduled run without catch_up. A run that would start later counts as missed.
	Late = 3 * time.Hour
	// Rate is the maximum number of runs that an event gate starts within RateWindow. Further events wait.
	Rate       = 10
	RateWindow = time.Minute
	// MaxDepth limits the length of a chain of runs in which each run causes an event that starts the next one.
	MaxDepth = 8
	// MaxBackoff is the longest wait before a retry. retry_backoff doubles up to this limit.
	MaxBackoff = time.Hour
)

// Facts contains what Judge needs to know about an automation. The zero value describes an automation that has never
// run. Times are wall-clock times, and may be inconsistent.
type Facts struct {
	Born      time.Time // when the automation was first seen with this schedule; zero = unknown
	Last      time.Time // when the latest run was opened; zero = never
	JudgedAt  time.Time // when Judge was last called; zero = not since the program started
	Skipped   time.Time // when a run was last skipped because another run was active
	Running   time.Time // start of the active run; zero = no run is active
	Queued    time.Time // when the queued run became due; zero = no run is queued
	Suspended string    // text after "suspended", such as "with the city"; "" = not suspended

	Tries    int       // number of the next retry; 0 = no retry is due
	FailedAt time.Time // end of the latest failed run

	Check  CheckFacts
	Events EventFacts
	// when the latest runs were opened, oldest first; only the last Rate entries count
	Recent        []time.Time
	Patrol        time.Duration // interval between two checks of a condition
	ScheduleCache ScheduleCache
}

// ScheduleCache caches the result of a search for a scheduled time.
type ScheduleCache struct {
	sum        string
	from, next time.Time
}

func (d Definition) nextScheduled(from time.Time, s *ScheduleCache) time.Time {
	if s.sum != d.Hash || from.Before(s.from) || !from.Before(s.next) {
		*s = ScheduleCache{d.Hash, from, d.Schedule.Next(from, d.Zone)}
	}
	return s.next
}

// CheckFacts is the state of a condition's check.
type CheckFacts struct {
	Running bool
	Asked   time.Time // start of the latest check; zero = never
	Done    bool      // a check has finished; the fields below are its result
	Fresh   bool      // no run has been opened for this result yet
	Code    int       // exit code; -1 = killed by a signal
	Err     string    // why the result is unknown: "timed out after 10s"
}

// EventFacts describes the events that match an event gate.
type EventFacts struct {
	Cursor uint64 // events up to this seq are handled
	Count  int
}

// Verdict is what Judge decides about an automation.
type Verdict struct {
	Due     bool
	Reason  string    // never empty
	Next    time.Time // when the automation becomes due by itself; zero = unknown, never, or now
	Opening time.Time // when the gate opened; for a schedule, the scheduled time

	Ask   bool // a check of the condition must start now
	Skip  bool // the gate opened during a run, and the new run must be skipped
	Keep  bool // the gate opened during a run, and another run must follow
	Retry int  // number of the retry that is due; 0 = not a retry

	ScheduleCache ScheduleCache
	off           bool
}

// Judge decides whether an automation is due, and why.
func Judge(d Definition, f Facts, now time.Time) Verdict {
	v := Verdict{ScheduleCache: f.ScheduleCache}
	now = now.Round(0) // wall-clock time only, because it is compared with stored times
	running := !f.Running.IsZero()
	switch {
	case d.Off != "":
		v.Reason, v.off = d.Off, true
		return v
	case f.Suspended != "" && d.Gate != Manual:
		v.Reason, v.off = "suspended "+f.Suspended, true
		return v
	case f.Tries > 0 && f.Tries <= d.Retry && !running:
		return d.again(f, now, v)
	case !f.Queued.IsZero() && !running:
		v.Due, v.Opening, v.Reason = true, f.Queued,
			fmt.Sprintf("queued: was due %s, during the last run", d.clock(f.Queued))
		return v
	}
	kind := d.Gate.kind()
	open := kind.judge(d, f, now, &v)
	if running {
		v.Reason = fmt.Sprintf("running for %s", words(now.Sub(f.Running)))
		v.Ask, v.Next = false, time.Time{}
		switch {
		case d.Gate == Event && f.Events.Count > 0:
			v.Reason += "; " + d.events(f.Events)
		case open && kind.queues && d.Overlap == Queue:
			v.Keep = true
		case open && kind.passes && d.Overlap == Skip:
			v.Skip = true
		}
		return v
	}
	v.Due = open
	return v
}

func (d Definition) cooldown(f Facts, now time.Time, v *Verdict) bool {
	v.Opening = now
	if f.Last.IsZero() {
		v.Reason = "first run"
		return true
	}
	passed := now.Sub(f.Last)
	if passed <= -d.Interval {
		v.Reason = "cooldown: ended early, because the clock was set back to a time before the " +
			"last run"
		return true
	}
	if left := d.Interval - passed; left > 0 {
		v.Reason, v.Next, v.Opening = fmt.Sprintf("cooldown: %s remaining", words(left)),
			now.Add(left), time.Time{}
		return false
	}
	v.Reason = fmt.Sprintf("cooldown: %s elapsed", words(d.Interval))
	return true
}

func (d Definition) cron(f Facts, now time.Time, v *Verdict) bool {
	minute := now.Truncate(time.Minute).Add(-time.Nanosecond) // include the current minute
	from := minute
	// below, Last and Skipped exclude the times that were handled, unless the clock was set back
	known := !d.isSetBack(f.Last, now) && !d.isSetBack(f.Skipped, now)
	switch born := !f.Born.IsZero() && !f.Born.After(now); {
	case born && known && d.CatchUp:
		from = f.Born
	case born && known:
		from = now.Add(-Late)
	case !f.JudgedAt.IsZero():
		from = later(f.JudgedAt, now.Add(-Late))
	}
	if from.After(now) { // the clock was set back
		from = minute
	}
	for _, done := range []time.Time{f.Last, f.Skipped} {
		if !d.isSetBack(done, now) {
			from = later(from, done)
		}
	}
	if !f.Born.After(now) { // ignore times before the automation was first seen
		from = later(from, f.Born)
	}
	at := d.nextScheduled(from, &v.ScheduleCache)
	switch {
	case at.IsZero():
		v.Reason = "cron: no scheduled time left"
		return false
	case at.After(now):
		v.Reason, v.Next = "cron: next "+d.clock(at), at
		return false
	}
	v.Opening, v.Next = at, d.nextScheduled(now, &v.ScheduleCache)
	v.Reason = "cron: due " + d.clock(at)
	if late := now.Sub(at); late >= 2*time.Minute {
		v.Reason += fmt.Sprintf(", %s late", words(late))
	}
	return true
}

// isSetBack reports whether a handled time is so far in the future that the clock must have been set back. For a
// schedule that follows elapsed time, it is enough if there are two scheduled times until then, because the automation
// would not run at either of them.
func (d Definition) isSetBack(handled, now time.Time) bool {
	if !d.Schedule.every || !handled.After(now) {
		return !handled.Before(now.Add(Late))
	}
	next := d.Schedule.Next(now, d.Zone)
	if !next.IsZero() {
		next = d.Schedule.Next(next, d.Zone)
	}
	return !next.IsZero() && !next.After(handled)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (d Definition) clock(at time.Time) string {
	layout := "2006-01-02 15:04"
	if d.Zone == nil {
		return at.Format(layout)
	}
	if d.Zone.String() != "Local" {
		layout += " MST"
	}
	return at.In(d.Zone).Format(layout)
}

// jitter is the expected maximum delay of a patrol. If the patrol after a delayed one is on time, the interval between
// the two is shorter than usual.
const jitter = 900 * time.Millisecond

func (d Definition) condition(f Facts, now time.Time, v *Verdict) bool {
	c := f.Check
	open := c.Done && c.Fresh && c.Err == "" && c.Code == 0
	v.Ask = !open && !c.Running && (c.Asked.IsZero() || c.Asked.After(now) ||
		now.Sub(c.Asked) >= f.Patrol-min(f.Patrol/10, jitter))
	switch {
	case !c.Done && c.Running:
		v.Reason = "condition: check is running"
	case !c.Done:
		v.Reason = "condition: not checked yet"
	case c.Err != "":
		v.Reason = "condition: " + c.Err
	case c.Code == 0 && !c.Fresh && c.Running:
		v.Reason = "condition: check is running"
	case c.Code == 0 && !c.Fresh: // a run was opened for this result and has ended
		v.Reason = "condition: not checked since the last run"
	default:
		v.Reason = fmt.Sprintf("condition: exit %d", c.Code)
	}
	if open {
		v.Opening = now
	}
	return open
}

func (d Definition) event(f Facts, now time.Time, v *Verdict) bool {
	if f.Events.Count == 0 {
		v.Reason = d.noEvents(f.Last, now)
		return false
	}
	v.Reason = d.events(f.Events)
	if n := len(f.Recent); n >= Rate {
		oldest := f.Recent[n-Rate]
		if left := oldest.Add(RateWindow).Sub(now); left > 0 && left <= RateWindow {
			v.Reason += fmt.Sprintf("; ran %d× in the last %s, next run in %s", Rate,
				words(RateWindow),
				words(left))
			v.Next = now.Add(left)
			return false
		}
	}
	v.Opening = now
	return true
}

func (d Definition) noEvents(last, now time.Time) string {
	if last.IsZero() {
		return fmt.Sprintf("event: no %s yet", d.On)
	}
	layout := "2006-01-02 15:04"
	if now.In(d.Zone).Format(time.DateOnly) == last.In(d.Zone).Format(time.DateOnly) {
		layout = time.TimeOnly
	}
	return fmt.Sprintf("event: no %s since %s", d.On, last.In(d.Zone).Format(layout))
}

func (d Definition) events(e EventFacts) string {
	return fmt.Sprintf("event: %d %s since seq %d", e.Count, d.On, e.Cursor)
}

func (d Definition) again(f Facts, now time.Time, v Verdict) Verdict {
	wait := d.backoff(f.Tries)
	left := f.FailedAt.Add(wait).Sub(now)
	v.Reason = fmt.Sprintf("retry %d of %d", f.Tries, d.Retry)
	// a remaining wait longer than the backoff means that the clock was set back
	if left <= 0 || left > wait {
		v.Due, v.Retry, v.Opening = true, f.Tries, now
		return v
	}
	v.Reason += " in " + words(left)
	v.Next = now.Add(left)
	return v
}

func (d Definition) backoff(n int) time.Duration {
	wait := d.RetryBackoff
	for i := 1; i < n && wait < MaxBackoff; i++ {
		wait *= 2
	}
	return min(wait, max(MaxBackoff, d.RetryBackoff))
}

// words formats a duration, rounded up to whole seconds, so that a remaining time is never shown as "0s".
func words(d time.Duration) string {
	return span.Text((max(0, d) + time.Second - time.Nanosecond).Truncate(time.Second))
}
