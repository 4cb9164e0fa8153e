package describe

import (
	"fmt"

	"gcity/city"
)

// Limits describes how long a run of an automation may take, how often it is retried, and how a due run during a run is
// handled.
func Limits(a *city.Automation) string {
	text := "timeout " + Setting(a.Timeout)
	switch {
	case a.Retry == 1:
		text += ", one retry"
	case a.Retry > 1:
		text += fmt.Sprintf(", %d retries", a.Retry)
	}
	if a.Overlap != "" {
		text += ", overlap " + a.Overlap
	}
	if a.WhileSuspended {
		text += ", also while suspended"
	}
	return text
}
