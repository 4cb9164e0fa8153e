package panel

import (
	"fmt"

	"gcity/city"
	"gcity/tui/widget"
)

func waiting(sends []city.Send) []city.Send {
	var all []city.Send
	for _, s := range sends {
		if s.Stage == city.Queued {
			all = append(all, s)
		}
	}
	return all
}

func (r *AgentRow) waitText() string {
	if len(r.Waiting) == 0 {
		return ""
	}
	text := "1 nudge queued"
	if n := len(r.Waiting); n > 1 {
		text = fmt.Sprintf("%d nudges queued", n)
	}
	if r.State != city.Running { // the row already says that the agent is not running
		return text
	}
	if first := &r.Waiting[0]; first.Hold == city.HoldDraft {
		text += ": draft in input"
	} else if why := widget.Plain(first.Why); why != "" {
		text += ": " + why
	}
	return text
}

// Quoted returns the beginning of a message in quotes. If the message is longer, its size follows.
func Quoted(s *city.Send) string {
	text := fmt.Sprintf("%q", widget.Plain(s.Text))
	if s.Lines > 1 || s.Bytes > len(s.Text) {
		text += fmt.Sprintf(" (%s, %s)", widget.Count(max(1, s.Lines), "line"),
			widget.Bytes(s.Bytes))
	}
	return text
}
