package describe

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/internal/span"
)

// Limits describes an automation's timeout, retries and overlap.
func Limits(a *city.Automation) string {
	text := "timeout " + span.Text(a.Timeout)
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

// NextRun returns "next run in 24s" for "in 24s". It returns other texts unchanged.
func NextRun(due string) string {
	if strings.HasPrefix(due, "in ") {
		return "next run " + due
	}
	return due
}
