// Package restart decides whether and when an agent restarts after its process has exited. It has no side effects.
// Times are arguments, so that the same history and death always lead to the same verdict.
package restart

import (
	"fmt"
	"hash/fnv"
	"time"

	"gcity/internal/span"
)

// Mode is the value of an agent's `restart` key.
type Mode string

const (
	Always    Mode = "always"
	OnFailure Mode = "on-failure"
	Never     Mode = "never"
)

// Policy says how to react to an agent's exits, according to the configuration.
type Policy struct {
	Mode      Mode
	MinUptime time.Duration // with Always, an exit with code 0 earlier than this counts as a crash
	// more than this many crashes within Window lead to quarantine; 0 = unlimited
	MaxRestarts int
	Window      time.Duration
	// wait before the second consecutive restart, doubled for each later one; 0 = no wait
	Backoff    time.Duration
	MaxBackoff time.Duration // maximum wait
}

// Death is an exit that was not requested.
type Death struct {
	Code        int    // exit code; -1 = unknown, or killed by a signal
	Signal      string // "SIGSEGV", …; "" = none
	Uptime      time.Duration
	StartFailed bool // the process was never started
	Lost        bool // the session was lost; this never counts as a crash
}

// Outcome is the reaction to a death.
type Outcome int

const (
	Restart    Outcome = iota // restart at Verdict.At
	Leave                     // do not restart the agent
	Quarantine                // too many crashes: do not restart before Verdict.At
)

// Verdict is the decision about one death.
type Verdict struct {
	Crash   bool
	Outcome Outcome
	Count   int           // for Quarantine, the number of crashes that led to it
	Span    time.Duration // for Quarantine, the time from the first of these crashes to the last
	Last    string        // for Quarantine, the last of these crashes: "exit 3"
	At      time.Time     // when the agent restarts; zero for Leave
	Reason  string        // "exit 3", "crashed 6× in 4m, last: SIGSEGV", …
}

// History contains an agent's recent crashes, at most MaxRestarts of them. The zero value is the history of an agent
// that has never crashed.
type History struct {
	Crashes []time.Time `json:"crashes,omitempty"` // crashes within the window, oldest first
	// consecutive crashes without a long run in between
	Streak int `json:"streak,omitempty"`
}

// Died records a death and returns the verdict on it.
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
		n, period := len(h.Crashes), now.Sub(h.Crashes[0]).Round(time.Second)
		h.Crashes, h.Streak = nil, 0
		return Verdict{
			Crash: true, Outcome: Quarantine, Count: n, Span: period, Last: reason,
			At:     now.Add(p.Window),
			Reason: fmt.Sprintf("crashed %d× in %s, last: %s", n, span.Text(period), reason),
		}
	}
	if p.MaxRestarts == 0 {
		h.Crashes = h.Crashes[:0] // without a limit, past crashes do not matter
	}
	return Verdict{Crash: true, Outcome: Restart, At: h.next(now, p), Reason: reason}
}

// The first restart is immediate. Later ones have jitter, so that agents that crashed together do not restart together.
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

// Again returns the time of the next attempt to start something. tries is the number of failed attempts so far, at
// least 1.
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

// Paced returns the time at which an agent restarts after an exit that is not a crash. The wait prevents a loop of
// immediate exits from keeping the machine busy.
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

func (d Death) crash(p Policy) bool {
	if d.Lost {
		return false
	}
	return d.StartFailed || d.Code != 0 || d.Signal != "" ||
		(p.Mode == Always && d.Uptime < p.MinUptime)
}

// longRun returns how long an agent must run before its next crash starts a new series.
func (p Policy) longRun() time.Duration {
	if p.MaxRestarts > 0 {
		return p.Window / time.Duration(p.MaxRestarts)
	}
	return p.MaxBackoff
}

// Clause returns a description with a verb and the uptime: "exited with code 3 after 5s".
func (d Death) Clause() string {
	how := fmt.Sprintf("exited with code %d", d.Code)
	switch {
	case d.Lost:
		how = "lost its session"
	case d.Signal != "":
		how = "was killed by " + d.Signal
	case d.Code < 0:
		how = "ended with an unknown exit code"
	}
	return how + " after " + span.Took(d.Uptime)
}

// CrashText describes a crash: "exit 3 after 5s", "exited 0 after 1s, sooner than min_uptime".
func (d Death) CrashText() string {
	uptime := span.Took(d.Uptime)
	if d.Code == 0 && d.Signal == "" {
		return "exited 0 after " + uptime + ", sooner than min_uptime"
	}
	return d.String() + " after " + uptime
}

// String returns a short description that can follow "restarted after": "exit 3", "SIGKILL", "start failed".
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
		return "exit with unknown code"
	default:
		return "exit 0"
	}
}

// jitter is deterministic, and less than span.
func jitter(now time.Time, span time.Duration) time.Duration {
	if span <= 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, now.UnixNano())
	return time.Duration(h.Sum64() % uint64(span))
}

// Within returns the number of crashes in the given period before now.
func (h *History) Within(now time.Time, window time.Duration) int {
	n := 0
	for _, t := range h.Crashes {
		if now.Sub(t) < window {
			n++
		}
	}
	return n
}

// Strategy selects which other agents restart after an agent has crashed.
type Strategy string

const (
	OneForOne  Strategy = "one_for_one"  // no other agent
	OneForAll  Strategy = "one_for_all"  // all agents that are connected to it by dependencies
	RestForOne Strategy = "rest_for_one" // all agents that depend on it, directly or indirectly
)
