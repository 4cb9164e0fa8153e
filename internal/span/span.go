// Package span formats durations.
package span

import (
	"strings"
	"time"
)

// Text formats a duration without units that are zero at its end: "5m", "1h30m", "12s". A configuration file accepts
// the same form.
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
