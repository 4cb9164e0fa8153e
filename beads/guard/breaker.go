package guard

import "time"

const (
	breakAfter = 3
	// interval before the first probe; it doubles each time, up to maxBroken
	minBroken = time.Second
	maxBroken = time.Minute
)

// Breaker is a circuit breaker for calls to a store that might fail. It has no clock; the caller passes the time. The
// zero Breaker allows every call.
type Breaker struct {
	fails  int       // consecutive
	since  time.Time // time of the first consecutive failure
	why    error
	wait   time.Duration
	until  time.Time // no calls before this time; zero = all calls are allowed
	trying bool
}

// Open reports whether the breaker rejects calls.
func (b *Breaker) Open() bool { return !b.until.IsZero() }

// Due reports whether it is time for a probe.
func (b *Breaker) Due(now time.Time) bool { return b.Open() && !b.trying && !now.Before(b.until) }

// Enter reports whether a call is allowed, and whether the call serves as a probe. After an allowed call has ended, the
// caller must call Ended.
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

type verdict int

const (
	StoreWorks verdict = iota // the call succeeded, or the store rejected the request
	StoreFailed
	inconclusive // the caller's deadline was too short
	untested     // a probe found no failure, but could not test this kind of call
)

// Ended records the end of a call. It reports whether the breaker's visible state has changed.
func (b *Breaker) Ended(now time.Time, probe bool, v verdict, why error) (changed bool) {
	if probe {
		b.trying = false
	}
	switch {
	case v == inconclusive:
		return false
	case v == StoreWorks:
		changed = b.Open()
		*b = Breaker{trying: b.trying}
		return changed
	case b.Open() && !probe:
		return false
	case v == untested: // allow calls again, but keep the wait: the next failure doubles it
		b.fails, b.until = breakAfter-1, time.Time{}
		return true
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
