// Package span formats durations.
package span

import (
	"strconv"
	"strings"
	"time"
)

// Text formats a duration and omits trailing units that are zero: "5m", "1h30m", "12s".
func Text(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Took formats how long something took: "12ms", "0.8s", "2s", "1m12s".
func Took(d time.Duration) string {
	const tenth = time.Second / 10
	if ms := max(0, d).Round(time.Millisecond); ms < tenth {
		return ms.String()
	}
	if tenths := d.Round(tenth); tenths < time.Minute {
		return strconv.FormatFloat(tenths.Seconds(), 'f', -1, 64) + "s"
	}
	return Text(d.Round(time.Second))
}
