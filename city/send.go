package city

import (
	"errors"
	"time"

	"gcity/beads"
)

// Stage is the progress of a nudge.
type Stage string

const (
	Queued    Stage = "queued"    // is waiting; the reason is in Why
	Typing    Stage = "typing"    // is being written to the terminal
	Submitted Stage = "submitted" // has been written to the terminal, followed by Enter
	// the agent has printed output since the nudge was submitted
	Acknowledged Stage = "acknowledged"
	GivenUp      Stage = "given up" // will not be typed; the reason is in Why
)

// OutputSince describes an acknowledged nudge. Output does not prove that the agent has read it.
const OutputSince = "new output since"

// Text describes the stage.
func (s Stage) Text() string {
	if s == Acknowledged {
		return string(Submitted) + "; " + OutputSince
	}
	return string(s)
}

// Hold is the reason why the provider of a running agent has not typed a nudge yet.
type Hold string

const (
	HoldDraft  Hold = "draft"
	HoldScreen Hold = "screen"
	// the program highlights an option of a list
	HoldQuestion Hold = "question"
	HoldTyping   Hold = "typing"
	HoldEnded    Hold = "ended"
)

// Text returns the reason as a clause. Without a reason, it returns "".
func (h Hold) Text() string {
	switch h {
	case HoldDraft:
		return "a user's draft is on the input line"
	case HoldScreen:
		return "the screen shows a draft after the prompt"
	case HoldQuestion:
		return "the program waits for an answer to a question in its terminal"
	case HoldTyping:
		return "a user is typing into the terminal"
	case HoldEnded:
		return "the session has just ended"
	}
	return string(h)
}

// Over reports whether the nudge has been submitted or given up.
func (s Stage) Over() bool { return s == Submitted || s == Acknowledged || s == GivenUp }

// Send is the state of a text sent with Nudge. In a list, queued nudges are in the order in which gcity will type them.
type Send struct {
	ID    uint64 `json:"id"`   // unique while the controller runs
	Text  string `json:"text"` // first line of the text, cut to MaxSendShown bytes
	Lines int    `json:"lines"`
	Bytes int    `json:"bytes"`
	Stage Stage  `json:"stage"`
	Why   string `json:"why,omitempty"` // "a draft is on the input line", "agent is starting"
	// "" = the terminal does not delay the nudge
	Hold  Hold      `json:"hold,omitempty"`
	Since time.Time `json:"since"`
}

// Limits of nudges.
const (
	MaxSendShown = 80      // bytes of a nudge's first line in a Snapshot
	MaxSends     = 20      // queued for one agent
	MaxSend      = 1 << 20 // in bytes, of one nudge and of all nudges queued for one agent
)

// Tidy returns a command with its text as it will be typed. It rejects control characters.
func Tidy(c Command) (Command, error) {
	n, ok := c.(Nudge)
	if !ok || len(n.Text) > MaxSend {
		return c, nil
	}
	text, err := beads.Text("text", n.Text, MaxSend)
	if bad, is := errors.AsType[*beads.Invalid](err); is {
		return nil, Errorf(Invalid, "cannot type the text: it %s", bad.Reason)
	}
	n.Text = text
	return n, nil
}
