// Package watchdog decides from observed facts whether an agent is healthy. It has no clock and does no I/O.
//
// An age below the fresh threshold is fresh. An age above the very-stale threshold is very stale. Any other age is
// stale.
package watchdog

import (
	"fmt"
	"time"
)

// Decision is the action that one beat takes for the watched agent.
type Decision string

const (
	Start   Decision = "start"
	Wake    Decision = "wake"
	Restart Decision = "restart" // used in place of Wake if another wake would not help
	Nudge   Decision = "nudge"
	Nothing Decision = "nothing"
)

// Freshness classifies the age of a heartbeat.
type Freshness string

const (
	Fresh     Freshness = "fresh"
	Stale     Freshness = "stale"
	VeryStale Freshness = "very stale"
	Dead      Freshness = "dead" // no session is alive; the age does not matter
)

// Spec contains the configured thresholds: 0 < Fresh < VeryStale.
type Spec struct {
	Fresh, VeryStale time.Duration
}

// Facts are the input to one beat.
type Facts struct {
	Alive    bool
	EndState string // state of an agent that has no session: "has exited (exit 1)"
	Starting bool
	Stopping bool
	// the agent is a triage agent, which runs only during a beat
	IsTriage bool

	Age         time.Duration // age of the latest heartbeat, or of the session if that is newer
	NoHeartbeat bool          // this session has had no heartbeat, so Age is that of the session
	Problem     string        // why the heartbeat file is ignored
	Mail        int           // number of unread messages
	Frozen      bool          // its process was stopped by a signal
	Silent      time.Duration // time since the agent's last output
	SilentKnown bool
	Stuck       bool   // it has work and has been silent for too long
	Gate        string // the gate that its work is waiting for, or ""
	CannotType  string // why messages cannot be typed into the session, or ""
	Wakes       int    // consecutive failed wakes
}

// maxWakes is the number of failed wakes after which the watchdog restarts an agent with a frozen process.
const maxWakes = 2

// WhyNoWake returns the reason why another wake would not help, or "" if it might help.
func (f *Facts) WhyNoWake() string {
	if f.CannotType == "" && f.Frozen && f.Wakes >= maxWakes {
		return fmt.Sprintf("%d wakes failed", f.Wakes)
	}
	return f.CannotType
}

// Verdict is a decision about the watched agent, with its reason.
type Verdict struct {
	Decision  Decision
	Freshness Freshness
	Reason    string // a clause for users
}

// Class returns the freshness of a heartbeat with this age.
func (s Spec) Class(age time.Duration) Freshness {
	switch {
	case age < s.Fresh:
		return Fresh
	case age <= s.VeryStale:
		return Stale
	}
	return VeryStale
}

// Class returns an agent's freshness. An agent without a session is Dead, unless it is a triage agent.
func Class(s Spec, f Facts) Freshness {
	if !f.Alive && !f.IsTriage {
		return Dead
	}
	return s.Class(f.Age)
}

// Judge returns the decision that follows from the thresholds.
func Judge(s Spec, f Facts) Verdict {
	v := Verdict{Decision: Nothing, Freshness: Class(s, f)}
	switch v.Freshness {
	case Dead:
		v.Decision, v.Reason = Start, "it has no session"
		if f.Starting {
			v.Decision, v.Reason = Nothing, "it has no session yet"
		}
		if f.EndState != "" {
			v.Reason += " and " + f.EndState
		}
		return v
	case VeryStale:
		v.Reason = fmt.Sprintf("%s; the limit is %s", f.age(), text(s.VeryStale))
		switch {
		case !f.Alive:
			v.Decision = Start
		case f.Stopping:
			v.Reason += "; a stop is in progress"
		case f.WhyNoWake() != "":
			v.Decision = Restart
			v.Reason += "; " + f.WhyNoWake()
		default:
			v.Decision = Wake
		}
	case Stale:
		v.Reason = fmt.Sprintf("%s (stale from %s on)", f.age(), text(s.Fresh))
		switch {
		case f.Mail == 0:
			v.Reason += ", and no mail is waiting"
		case !f.Alive:
			v.Reason += ", and " + messagesWaiting(f.Mail) + " for its next check"
		case f.Stopping:
			v.Reason += ", and " + messagesWaiting(f.Mail) + ", but a stop is in progress"
		case f.CannotType != "":
			v.Reason += ", and " + messagesWaiting(f.Mail) + ", but " + f.CannotType
		default:
			v.Decision = Nudge
			v.Reason += ", and " + messagesWaiting(f.Mail)
		}
	default:
		v.Reason = f.age()
	}
	v.Reason += f.notes()
	return v
}

// Silence returns a clause about how long an agent has printed nothing, or "" if unknown.
func (f *Facts) Silence() string {
	if !f.SilentKnown {
		return ""
	}
	return "it has printed nothing for " + text(f.Silent)
}

func (f *Facts) notes() string {
	out := ""
	if f.Frozen {
		out += "; its process is stopped (SIGSTOP)"
	}
	if f.Stuck {
		out += "; it has work, and " + f.Silence()
	}
	if f.Gate != "" {
		out += "; its work is waiting for gate " + f.Gate
	}
	if f.Problem != "" {
		out += "; " + f.Problem
	}
	return out
}

func (f *Facts) age() string {
	switch {
	case f.IsTriage:
		return "no decision or heartbeat for " + text(f.Age)
	case f.NoHeartbeat:
		return "no heartbeat for " + text(f.Age) + " since the session started"
	}
	return "its heartbeat is " + text(f.Age) + " old"
}

func messagesWaiting(n int) string {
	if n == 1 {
		return "1 message is waiting"
	}
	return fmt.Sprintf("%d messages are waiting", n)
}

func text(d time.Duration) string {
	switch {
	case d >= time.Hour:
		d = d.Round(time.Minute)
		if m := d % time.Hour / time.Minute; m > 0 {
			return fmt.Sprintf("%dh%dm", d/time.Hour, m)
		}
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute:
		d = d.Round(time.Second)
		if s := d % time.Minute / time.Second; s > 0 {
			return fmt.Sprintf("%dm%ds", d/time.Minute, s)
		}
		return fmt.Sprintf("%dm", d/time.Minute)
	case d >= time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
