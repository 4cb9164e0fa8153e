package guard

import "time"

const (
	// breakAfter is how many failures in a row are one too many.
	breakAfter = 3
	// What failed too often is asked again after minBroken, and then after twice as long each time, up to maxBroken.
	minBroken = time.Second
	maxBroken = time.Minute
)

// Breaker is a circuit breaker. It decides whether calls to a failing store are allowed. It has no clock: the
// caller passes the time. The zero Breaker allows every call.
type Breaker struct {
	fails  int       // in a row
	since  time.Time // of the first of them
	why    error     // the newest
	wait   time.Duration
	until  time.Time // no call before; zero = all calls are allowed
	trying bool      // the one call that finds out is under way
}

// Open reports that the breaker keeps callers away.
func (b *Breaker) Open() bool { return !b.until.IsZero() }

// Due reports that it is time to find out.
func (b *Breaker) Due(now time.Time) bool { return b.Open() && !b.trying && !now.Before(b.until) }

// Enter asks for permission for a call. The caller reports the end of a permitted call with Ended. probe marks the
// call that tests the store.
func (b *Breaker) Enter(now time.Time) (in, probe bool) {
	if !b.Open() {
		return true, false
	}
	if !b.Due(now) {
		return false, false
	}
	b.trying = true
	return true, true
}

// verdict is what the end of a call says.
type verdict int

const (
	AnsweredCall verdict = iota // with what was wanted, or a refusal
	FailedCall
	unknownEnd // the caller had no time to wait for it
)

// Ended takes the end of a call. Of the calls in progress when the breaker opened, only a success counts. It
// reports whether the visible state of the breaker has changed.
func (b *Breaker) Ended(now time.Time, probe bool, v verdict, why error) (changed bool) {
	if probe {
		b.trying = false
	}
	switch {
	case v == unknownEnd:
		return false
	case v == AnsweredCall:
		changed = b.Open()
		*b = Breaker{trying: b.trying}
		return changed
	case b.Open() && !probe:
		return false
	}
	if b.fails++; b.fails == 1 {
		b.since = now
	}
	b.why = why
	if b.fails < breakAfter {
		return false
	}
	b.wait = min(max(minBroken, 2*b.wait), maxBroken)
	b.until = now.Add(b.wait)
	return true
}
