// Package restart decides whether an agent that died may live again: at once, later, or not for now. It is pure: times
// come in as arguments, and the same history and death give the same verdict.
package restart

import (
	"fmt"
	"hash/fnv"
	"time"
)

// Mode is the agent's `restart` key.
type Mode string

const (
	Always    Mode = "always"
	OnFailure Mode = "on-failure"
	Never     Mode = "never"
)

// Policy is what the config says about one agent's deaths.
type Policy struct {
	Mode      Mode
	MinUptime time.Duration // under Always a clean exit before this is a crash
	// crashes within Window that are answered by a restart; 0 = any number
	MaxRestarts int
	Window      time.Duration
	Backoff     time.Duration // wait before the second restart in a row; doubles. 0 = none
	MaxBackoff  time.Duration // the doubling ends here (the patrol interval)
}

// Death is an end that nobody asked for.
type Death struct {
	Code        int    // exit code, -1 = unknown or by signal
	Signal      string // "SIGSEGV", …; "" = none
	Uptime      time.Duration
	StartFailed bool // it never ran
	Lost        bool // what held it was lost: not the agent's doing, never counted
}

// What follows a death.
type Outcome int

const (
	Restart    Outcome = iota // start again at Verdict.At
	Leave                     // the policy says to leave it
	Quarantine                // too many crashes; start again at Verdict.At
)

// Verdict is the answer to one death.
type Verdict struct {
	Crash   bool // it counts
	Count   int  // of the crashes that led to a Quarantine; 0 for the other outcomes
	Outcome Outcome
	At      time.Time // of the next start; zero for Leave
	Reason  string    // "exit 3", "crashed 6× in 4m0s, the last by SIGSEGV", …
}

// History is the memory of one agent's crashes. The zero value is an agent that never crashed. It holds at most
// MaxRestarts+1 times.
type History struct {
	Crashes []time.Time `json:"crashes,omitempty"` // within the window, oldest first
	Streak  int         `json:"streak,omitempty"`  // restarts in a row without a long run between
}

// Died records a death and says what follows.
func (h *History) Died(now time.Time, d Death, p Policy) Verdict {
	reason := d.String()
	crash := d.crash(p)
	if crash && d == (Death{Uptime: d.Uptime}) {
		reason += ", sooner than min_uptime"
	}
	if d.Uptime > p.longRun() {
		h.Streak = 0
	}
	switch {
	case d.Lost:
		return Verdict{Outcome: Restart, At: h.next(now, p), Reason: reason}
	case !crash && p.Mode == Always:
		return Verdict{Outcome: Restart, At: p.Paced(now, d.Uptime), Reason: reason}
	case !crash || p.Mode == Never:
		return Verdict{Crash: crash, Outcome: Leave,
			Reason: fmt.Sprintf("%s, restart = %q", reason, p.Mode)}
	}
	h.prune(now, p.Window)
	h.Crashes = append(h.Crashes, now)
	if p.MaxRestarts > 0 && len(h.Crashes) > p.MaxRestarts {
		n, span := len(h.Crashes), now.Sub(h.Crashes[0])
		h.Crashes, h.Streak = nil, 0
		return Verdict{
			Crash: true, Count: n, Outcome: Quarantine, At: now.Add(p.Window),
			Reason: fmt.Sprintf("crashed %d× in %s, the last: %s", n, span.Round(time.Second),
				reason),
		}
	}
	if p.MaxRestarts == 0 {
		h.Crashes = h.Crashes[:0] // nothing will ever be judged by them
	}
	return Verdict{Crash: true, Outcome: Restart, At: h.next(now, p), Reason: reason}
}

// next gives the time of the coming restart: the first of a streak is immediate, the others wait with up to a tenth of
// jitter, so that agents felled together do not come back together.
func (h *History) next(now time.Time, p Policy) time.Time {
	h.Streak++
	if h.Streak == 1 || p.Backoff <= 0 {
		return now
	}
	wait := p.Backoff
	for i := 2; i < h.Streak && wait < p.MaxBackoff; i++ {
		wait *= 2
	}
	if p.MaxBackoff > 0 {
		wait = min(wait, p.MaxBackoff)
	}
	return now.Add(wait + jitter(now, wait/10))
}

// Again is when a start is tried again that could not even begin, since something is not there that it needs.
// Nothing has run, so no history is touched. tries counts those in a row, from 1: the wait doubles, and is never
// nothing.
func (p Policy) Again(now time.Time, tries int) time.Time {
	wait := p.Backoff
	if wait <= 0 {
		wait = time.Second
	}
	for ; tries > 1 && wait < p.MaxBackoff; tries-- {
		wait *= 2
	}
	if p.MaxBackoff > 0 {
		wait = min(wait, p.MaxBackoff)
	}
	return now.Add(wait)
}

// Paced returns when an agent restarts whose end does not count as a crash: at once, but two starts are at least
// Backoff apart, so that a program that ends as soon as it starts does not keep the machine busy.
func (p Policy) Paced(now time.Time, uptime time.Duration) time.Time {
	return now.Add(max(0, p.Backoff-max(0, uptime)))
}

func (h *History) prune(now time.Time, window time.Duration) {
	keep := h.Crashes[:0]
	for _, t := range h.Crashes {
		if now.Sub(t) < window {
			keep = append(keep, t)
		}
	}
	h.Crashes = keep
}

// crash says whether a death counts (the rule of "Deaths" in the operator's guide).
func (d Death) crash(p Policy) bool {
	if d.Lost {
		return false
	}
	return d.StartFailed || d.Code != 0 || d.Signal != "" ||
		(p.Mode == Always && d.Uptime < p.MinUptime)
}

// longRun is the uptime after which a death starts a new streak.
func (p Policy) longRun() time.Duration {
	if p.MaxRestarts > 0 {
		return p.Window / time.Duration(p.MaxRestarts)
	}
	return p.MaxBackoff
}

// String says how it ended, in the fewest words: "exit 3", "SIGKILL", "start failed".
func (d Death) String() string {
	switch {
	case d.Lost:
		return "its session was lost"
	case d.StartFailed:
		return "start failed"
	case d.Signal != "":
		return d.Signal
	case d.Code == 126:
		return "exit 126: found but not executable"
	case d.Code == 127:
		return "exit 127: command not found"
	case d.Code > 0:
		return fmt.Sprintf("exit %d", d.Code)
	case d.Code < 0:
		return "ended, exit code unknown"
	default:
		return "exit 0"
	}
}

// jitter spreads instants over [0, span), the same for the same instant.
func jitter(now time.Time, span time.Duration) time.Duration {
	if span <= 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, now.UnixNano())
	return time.Duration(h.Sum64() % uint64(span))
}

// Within counts the crashes of the last window.
func (h *History) Within(now time.Time, window time.Duration) int {
	n := 0
	for _, t := range h.Crashes {
		if now.Sub(t) < window {
			n++
		}
	}
	return n
}

// Strategy says who else restarts when an agent crashes.
type Strategy string

const (
	OneForOne  Strategy = "one_for_one"  // nobody
	OneForAll  Strategy = "one_for_all"  // everybody that it is connected with by dependencies
	RestForOne Strategy = "rest_for_one" // those that depend on it, directly or not
)
