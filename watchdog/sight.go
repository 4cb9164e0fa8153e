package watchdog

import "time"

// Sighting determines the age of a timestamp from another clock. It compares the clocks only when it first sees the
// timestamp, so setting a clock later has no effect. A timestamp in the future has age 0. The zero value has no
// timestamp.
type Sighting struct {
	Stamp time.Time // zero = none was seen

	age   time.Duration // the timestamp's age when it was first seen
	at    time.Time
	vague bool // the actual age may be less
}

// Update records a read of the timestamp. The parameter last is the time of the previous read, or zero.
func (s Sighting) Update(stamp, last, now time.Time) Sighting {
	if stamp.IsZero() || stamp.Equal(s.Stamp) {
		return s
	}
	seen := Sighting{Stamp: stamp, age: max(0, now.Sub(stamp)), at: now}
	if most := now.Sub(last); !last.IsZero() && most < seen.age {
		seen.age, seen.vague = most, true
	}
	return seen
}

// Age returns the current age. ok is false if no timestamp was seen.
func (s Sighting) Age(now time.Time) (age time.Duration, ok bool) {
	if s.Stamp.IsZero() {
		return 0, false
	}
	return max(0, s.age+now.Sub(s.at)), true
}

// Time returns the timestamp converted to the local clock, or the zero time. The actual time may be later.
func (s Sighting) Time() time.Time {
	if s.Stamp.IsZero() {
		return time.Time{}
	}
	return s.at.Add(-s.age)
}

// SeenAfter reports whether the timestamp was first seen after t.
func (s Sighting) SeenAfter(t time.Time) bool { return !s.Stamp.IsZero() && s.at.After(t) }

// After reports whether the timestamp may be later than t. It allows an error of one second, because timestamps often
// have no fractions.
func (s Sighting) After(t time.Time) bool {
	return s.SeenAfter(t) && (s.vague || s.at.Add(time.Second-s.age).After(t))
}
