// Package watchdog judges whether an agent is well, by what can be seen of it: whether its session lives, how old its
// heartbeat is, whether mail waits for it. It has no clock and reads nothing: facts in, verdict out.
//
// An age below fresh is fresh, one above very stale is very stale, and both bounds themselves lie between: stale.
package watchdog

import (
	"fmt"
	"time"
)

// Decision is what a beat does about whom it watches.
type Decision string

const (
	Start   Decision = "start"
	Wake    Decision = "wake"
	Restart Decision = "restart" // in place of Wake, where nothing can be typed
	Nudge   Decision = "nudge"
	Nothing Decision = "nothing"
)

// Freshness classes an age.
type Freshness string

const (
	Fresh     Freshness = "fresh"
	Stale     Freshness = "stale"
	VeryStale Freshness = "very stale"
	Dead      Freshness = "dead" // no session lives, whatever the age
)

// Spec is what is declared. 0 < Fresh < VeryStale.
type Spec struct {
	Fresh, VeryStale time.Duration
}

// Facts are what a beat has found.
type Facts struct {
	Alive  bool
	Gone   string // how an agent without a session stands: "exited: exit 1"
	Starts bool   // it is being started just now
	Stops  bool   // its session is being stopped
	Called bool   // it is started by somebody's beats alone: that it has no session says nothing

	Age      time.Duration // of the newest heartbeat, or of the session where that is younger
	Never    bool          // there is no heartbeat of this session: Age is the session's
	Problem  string        // why the file counts as none
	Mail     int           // unread
	Frozen   bool          // its process is stopped by a signal
	Silent   time.Duration // since its newest output
	Speaks   bool          // Silent is known
	Stuck    bool          // it has work, and has been silent for longer than it may
	Gate     string        // the gate that its work awaits; "" = none
	CannotBe string        // why nothing can be typed into it; "" = it can
	Wakes    int           // wakes in a row that failed
}

// maxWakes is the number of failed wakes after which a stopped process is restarted.
const maxWakes = 2

// Deaf returns why another wake is useless, "" if it is not.
func (f *Facts) Deaf() string {
	if f.CannotBe == "" && f.Frozen && f.Wakes >= maxWakes {
		return fmt.Sprintf("%d wakes failed", f.Wakes)
	}
	return f.CannotBe
}

// Verdict is what the thresholds make of facts.
type Verdict struct {
	Decision  Decision
	Freshness Freshness
	Reason    string // one clause, for a person
}

// Class is how fresh an age is.
func (s Spec) Class(age time.Duration) Freshness {
	switch {
	case age < s.Fresh:
		return Fresh
	case age <= s.VeryStale:
		return Stale
	}
	return VeryStale
}

// Class is how fresh facts are.
func Class(s Spec, f Facts) Freshness {
	if !f.Alive && !f.Called {
		return Dead
	}
	return s.Class(f.Age)
}

// Judge decides by thresholds alone.
func Judge(s Spec, f Facts) Verdict {
	v := Verdict{Decision: Nothing, Freshness: Class(s, f)}
	switch v.Freshness {
	case Dead:
		v.Decision, v.Reason = Start, "it has no session"
		if f.Starts {
			v.Decision, v.Reason = Nothing, "it has no session yet"
		}
		if f.Gone != "" {
			v.Reason += ": it is " + f.Gone
		}
		return v
	case VeryStale:
		v.Reason = fmt.Sprintf("%s, more than %s", f.age(), text(s.VeryStale))
		switch {
		case !f.Alive:
			v.Decision = Start
		case f.Stops:
			v.Reason += "; it is being stopped"
		case f.Deaf() != "":
			v.Decision = Restart
			v.Reason += "; " + f.Deaf()
		default:
			v.Decision = Wake
		}
	case Stale:
		v.Reason = fmt.Sprintf("%s, %s or more", f.age(), text(s.Fresh))
		switch {
		case f.Mail == 0:
			v.Reason += ", and no mail waits"
		case !f.Alive:
			v.Reason += ", and " + letters(f.Mail) + ", for its next beat"
		case f.Stops:
			v.Reason += ", and " + letters(f.Mail) + ", but it is being stopped"
		case f.CannotBe != "":
			v.Reason += ", and " + letters(f.Mail) + ", but " + f.CannotBe
		default:
			v.Decision = Nudge
			v.Reason += ", and " + letters(f.Mail)
		}
	default:
		v.Reason = f.age()
	}
	v.Reason += f.besides()
	return v
}

// Silence is how long an agent has printed nothing, in words; "" if nobody can tell.
func (f *Facts) Silence() string {
	if !f.Speaks {
		return ""
	}
	return "it has printed nothing for " + text(f.Silent)
}

// besides is what a person should know, though it decides nothing.
func (f *Facts) besides() string {
	out := ""
	if f.Frozen {
		out += "; its process is stopped (SIGSTOP)"
	}
	if f.Stuck {
		out += "; it has work, and " + f.Silence()
	}
	if f.Gate != "" {
		out += "; its work awaits the gate " + f.Gate
	}
	if f.Problem != "" {
		out += "; " + f.Problem
	}
	return out
}

func (f *Facts) age() string {
	switch {
	case f.Called:
		return "nothing has been heard of it for " + text(f.Age)
	case f.Never:
		return "no heartbeat in the " + text(f.Age) + " of its session"
	}
	return "its heartbeat is " + text(f.Age) + " old"
}

func letters(n int) string {
	if n == 1 {
		return "1 message waits"
	}
	return fmt.Sprintf("%d messages wait", n)
}

// text is a time span in as few words as say it.
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
