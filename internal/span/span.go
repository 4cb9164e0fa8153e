// Package span formats durations.
package span

import (
	"strings"
	"time"
)

// Text formats a duration and omits trailing units that are zero: "5m", "1h30m", "12s". Configuration files accept the
// result.
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
