package watchdog

import "time"

// Sight is how old something is that somebody else has dated. What it was dated is believed once, when it is first
// seen; from then on its age grows with our own clock alone. So a clock that is set does not make anybody old, or
// young again: what has changed between two looks is no older than the first of them, and what is dated in the
// future is as old as the sight of it. The zero value has seen nothing.
type Sight struct {
	Stamp time.Time // as it was dated; zero = nothing was seen

	age   time.Duration // at at
	at    time.Time
	vague bool // age is only the most that it can be
}

// See takes what a look shows; last is when the look before was, zero if there was none.
func (s Sight) See(stamp, last, now time.Time) Sight {
	if stamp.IsZero() || stamp.Equal(s.Stamp) {
		return s
	}
	seen := Sight{Stamp: stamp, age: max(0, now.Sub(stamp)), at: now}
	if most := now.Sub(last); !last.IsZero() && most < seen.age {
		seen.age, seen.vague = most, true
	}
	return seen
}

// Age is how old it is now; not ok if nothing was seen.
func (s Sight) Age(now time.Time) (age time.Duration, ok bool) {
	if s.Stamp.IsZero() {
		return 0, false
	}
	return max(0, s.age+now.Sub(s.at)), true
}

// Time is when it was dated by our own clock, as far as that is known; zero if nothing was seen.
func (s Sight) Time() time.Time {
	if s.Stamp.IsZero() {
		return time.Time{}
	}
	return s.at.Add(-s.age)
}

// SeenAfter reports whether it was first seen after a time.
func (s Sight) SeenAfter(t time.Time) bool { return !s.Stamp.IsZero() && s.at.After(t) }

// After reports whether it may be from after a time: it was not seen before, and is not known to be older. What
// somebody dates is often cut to the second.
func (s Sight) After(t time.Time) bool {
	return s.SeenAfter(t) && (s.vague || s.at.Add(time.Second-s.age).After(t))
}
