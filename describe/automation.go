package describe

import (
	"fmt"

	"gcity/city"
)

// Limits describes an automation's limits: how long a run may take, how often it is retried, what happens if a run is
// due while another one is in progress, and whether the automation also runs while suspended.
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
