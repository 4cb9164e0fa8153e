package controller

import "time"

const (
	// breakAfter is how many failures in a row are one too many.
	breakAfter = 3
	// What failed too often is asked again after minBroken, and then after twice as long each time, up to maxBroken.
	minBroken = time.Second
	maxBroken = time.Minute
)

// breaker decides whether something that fails is asked again. It has no clock: whoever asks it says what time it is. The
// zero breaker lets everything through.
type breaker struct {
	fails  int       // in a row
	since  time.Time // of the first of them
	why    error     // the newest
	wait   time.Duration
	until  time.Time // nobody asks before; zero = everybody may
	trying bool      // the one call that finds out is under way
}

// open reports that the breaker keeps callers away.
func (b *breaker) open() bool { return !b.until.IsZero() }

// due reports that it is time to find out.
func (b *breaker) due(now time.Time) bool { return b.open() && !b.trying && !now.Before(b.until) }

// enter asks for a call. Who is let in says how it ended, by ended; probe is the one that finds out for all.
func (b *breaker) enter(now time.Time) (in, probe bool) {
	if !b.open() {
		return true, false
	}
	if !b.due(now) {
		return false, false
	}
	b.trying = true
	return true, true
}

// verdict is what the end of a call says.
type verdict int

const (
	answered verdict = iota // with what was wanted, or a refusal
	failed
	unknown // the caller had no time to wait for it
)

// ended takes the end of a call. Of those that were under way when the breaker opened only a success counts. It reports
// whether the breaker is another one than before, to those who look at it.
func (b *breaker) ended(now time.Time, probe bool, v verdict, why error) (changed bool) {
	if probe {
		b.trying = false
	}
	switch {
	case v == unknown:
		return false
	case v == answered:
		changed = b.open()
		*b = breaker{trying: b.trying}
		return changed
	case b.open() && !probe:
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
