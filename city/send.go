package city

import (
	"errors"
	"time"

	"gcity/beads"
)

// Stage says how far a text has come on its way into an agent.
type Stage string

const (
	Queued    Stage = "queued"    // waits for its turn, or for what Why says
	Typing    Stage = "typing"    // the terminal is taking it
	Submitted Stage = "submitted" // the terminal took all of it, and Enter after it
	// the agent's terminal answered: it has printed something since
	Acknowledged Stage = "acknowledged"
	GivenUp      Stage = "given up" // it was not typed, and will not be; Why says the reason
)

// Over reports whether nothing more is tried. A submitted text may still be acknowledged.
func (s Stage) Over() bool { return s == Submitted || s == Acknowledged || s == GivenUp }

// Send is a text that was sent to an agent by Nudge. Those that wait are in the order in which they will be typed,
// which is that in which they were sent, but for those sent Now: they go before the others.
type Send struct {
	ID    uint64    `json:"id"`   // unique while the controller lives
	Text  string    `json:"text"` // its first line, cut to MaxSendShown bytes
	Lines int       `json:"lines"`
	Bytes int       `json:"bytes"`
	Stage Stage     `json:"stage"`
	Why   string    `json:"why,omitempty"` // "somebody's draft is on its line", "agent is starting"
	Since time.Time `json:"since"`         // when it came to this stage
}

// Bounds of what is sent.
const (
	MaxSendShown = 80      // bytes of a text's first line in a Snapshot
	MaxSends     = 20      // texts that may wait for one agent
	MaxSend      = 1 << 20 // bytes of one text, and of all together that wait for one agent
)

// Tidy returns a command with its text for an agent in the form in which it is typed. It refuses a text that a bead
// refuses: a terminal would take its controls for keys, and its reader would not see what it says.
func Tidy(c Command) (Command, error) {
	n, ok := c.(Nudge)
	if !ok || len(n.Text) > MaxSend { // which is refused in other words
		return c, nil
	}
	text, err := beads.Text("text", n.Text, MaxSend)
	if bad, is := errors.AsType[*beads.Invalid](err); is {
		return nil, &Error{Code: Invalid, Message: "cannot type the text: it " + bad.Reason}
	}
	n.Text = text
	return n, nil
}
