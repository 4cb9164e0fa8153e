package watchdog

import "time"

// Sight tracks the age of a timestamp from another clock. The timestamp is used once, when it is first seen. After
// that the age grows with the local clock only, so setting a clock does not change it. A timestamp that changed
// between two reads is not older than the first read. A timestamp in the future counts from the read that found it.
// The zero value has seen nothing.
type Sight struct {
	Stamp time.Time // the date as written; zero = nothing seen

	age   time.Duration // the age at time at
	at    time.Time
	vague bool // age is only an upper bound
}

// See records the result of a look. last is the time of the look before, zero if there was none.
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

// Age returns the present age. ok is false if nothing was seen.
func (s Sight) Age(now time.Time) (age time.Duration, ok bool) {
	if s.Stamp.IsZero() {
		return 0, false
	}
	return max(0, s.age+now.Sub(s.at)), true
}

// Time returns the date by the local clock, as far as it is known; zero if nothing was seen.
func (s Sight) Time() time.Time {
	if s.Stamp.IsZero() {
		return time.Time{}
	}
	return s.at.Add(-s.age)
}

// SeenAfter reports whether the date was first seen after t.
func (s Sight) SeenAfter(t time.Time) bool { return !s.Stamp.IsZero() && s.at.After(t) }

// After reports whether the date may be after t: it was first seen after t, and is not known to be older. Dates are
// often cut to whole seconds.
func (s Sight) After(t time.Time) bool {
	return s.SeenAfter(t) && (s.vague || s.at.Add(time.Second-s.age).After(t))
}
