package panel

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// RunReason says why a run was started and what requested it.
func RunReason(run *city.Run) string {
	text := widget.Plain(run.Reason)
	if run.By != "" { // the reason only says that the run was requested
		text = "fired by " + widget.Plain(run.By)
	}
	if run.Retry > 0 {
		text += fmt.Sprintf(", retry %d", run.Retry)
	}
	if run.Events > 0 {
		text += ", " + widget.Count(run.Events, "event")
	}
	return strings.TrimPrefix(text, ", ")
}

// RunOutcome returns the outcome of a run and its color.
func RunOutcome(run *city.Run) (string, themes.Token) {
	switch {
	case run.Ending():
		return "ending", themes.Busy
	case run.Outcome == RunOK:
		return RunOK, themes.Good
	case run.Ended == nil:
		return "running", themes.Busy
	case run.Code != nil:
		return fmt.Sprintf("exit %d", *run.Code), themes.Bad
	case run.Outcome == "":
		return "unknown", themes.Warn
	}
	return widget.Plain(run.Outcome), themes.Bad
}
