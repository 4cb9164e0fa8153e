package machine

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// outbox has the queued texts of one agent.
type outbox struct {
	waiting []*delivery // in typing order
	current *delivery   // in the queue of the terminal, or being typed; nil: empty
	over    []*delivery // newest last
	again   time.Time   // queued texts are not tried before, except urgent ones
	// since when a draft or a user's typing holds texts back; zero = they are not held back
	disturbed time.Time
}

// delivery is a text for an agent.
type delivery struct {
	id           uint64
	text         string // "" when it is over
	first        string // its first line, for display
	lines, bytes int
	now          bool
	held         bool // it was tried and held back
	stage        city.Stage
	why          string
	since        time.Time // when it reached its stage
	came         time.Time

	asker    uint64    // the command that waits for a report; 0 = it was answered
	answerBy time.Time // at the latest

	tier     string  // the watchdog that sent it; "" = a user
	meant    string  // the session that the watchdog meant
	obsolete string  // why it is obsolete; "" = it is not
	takers   []taker // commands that take it back while it is being typed
	life     string  // the session that it was typed into
	output   uint64  // bytes printed until then
	looks    int     // checks for its acknowledgement
}

func (d *delivery) draw() city.Send {
	return city.Send{ID: d.id, Text: d.first, Lines: d.lines, Bytes: d.bytes, Stage: d.stage,
		Why: d.why, Since: d.since}
}

// payload returns the payload of an event about it, without the text.
func (d *delivery) payload() map[string]any {
	return map[string]any{"id": d.id, "bytes": d.bytes, "lines": d.lines}
}

// sender returns the actor for the log.
func (d *delivery) sender() string {
	if d.tier != "" {
		return effect.ActorController
	}
	return effect.ActorOperator
}

func (d *delivery) String() string {
	if d.lines > 1 {
		return fmt.Sprintf("a text of %d lines", d.lines)
	}
	return "a line"
}

// all returns the texts for display: finished, in progress, queued.
func (b *outbox) all() []*delivery {
	all := slices.Clone(b.over)
	if b.current != nil {
		all = append(all, b.current)
	}
	return append(all, b.waiting...)
}

// queue adds a text to the queue: urgent texts first, otherwise in order. With back, it becomes the first of its
// kind.
func (b *outbox) queue(d *delivery, back bool) {
	urgent := slices.IndexFunc(b.waiting, func(d *delivery) bool { return !d.now })
	if urgent < 0 {
		urgent = len(b.waiting)
	}
	at := len(b.waiting)
	switch {
	case d.now && back:
		at = 0
	case d.now || back:
		at = urgent
	}
	b.waiting = slices.Insert(b.waiting, at, d)
}

// room returns why another text is refused, "" if it is accepted.
func (b *outbox) room(a *record, size int) string {
	n, bytes := len(b.waiting), size
	if b.current != nil {
		n++
		bytes += b.current.bytes
	}
	for _, d := range b.waiting {
		bytes += d.bytes
	}
	switch {
	case n >= city.MaxSends:
		return fmt.Sprintf("%d texts are already queued for agent %s, the maximum: `gcity agent "+
			"unsend %s` takes them back", n, a.name, a.name)
	case bytes > city.MaxSend:
		return fmt.Sprintf("the texts that wait for agent %s would be %d bytes together, and %d "+
			"are kept: wait until some are typed, or put the text in a file and send its name",
			a.name, bytes, city.MaxSend)
	}
	return ""
}
