package watchdog

import "time"

// Sight is how old something is that somebody else has dated. What it was dated is believed once, when it is first seen;
// from then on its age grows with our own clock alone. So a clock that is set does not make anybody old, or young again:
// what has changed between two looks is no older than the first of them, and what is dated in the future is as old as the
// sight of it. The zero value has seen nothing.
type Sight struct {
	Stamp time.Time // as it was dated; zero = nothing was seen

	age time.Duration // at at
	at  time.Time
}

// See takes what a look shows; last is when the look before was, zero if there was none.
func (s Sight) See(stamp, last, now time.Time) Sight {
	if stamp.IsZero() || stamp.Equal(s.Stamp) {
		return s
	}
	age := max(0, now.Sub(stamp))
	if !last.IsZero() {
		age = min(age, now.Sub(last))
	}
	return Sight{Stamp: stamp, age: age, at: now}
}

// Age is how old it is now; not ok if nothing was seen.
func (s Sight) Age(now time.Time) (age time.Duration, ok bool) {
	if s.Stamp.IsZero() {
		return 0, false
	}
	return max(0, s.age+now.Sub(s.at)), true
}

// SeenAfter reports whether it was first seen after a time.
func (s Sight) SeenAfter(t time.Time) bool { return !s.Stamp.IsZero() && s.at.After(t) }
