package machine

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// outbox has the texts on their way into one agent.
type outbox struct {
	waiting []*delivery // in the order in which they are typed
	going   *delivery   // is before its turn at the terminal, or there; nil: none is
	over    []*delivery // newest last
	again   time.Time   // what waits is not tried before, unless it is sent now
	// since when a draft, or somebody's typing, holds back; zero = it does not
	disturbed time.Time
}

// delivery is a text that somebody has sent to an agent.
type delivery struct {
	id           uint64
	text         string // "" once it is over
	first        string // its first line, as it is shown
	lines, bytes int
	now          bool
	held         bool // it was tried, and held back
	stage        city.Stage
	why          string
	since        time.Time // when it came to its stage
	came         time.Time

	asker    uint64    // the command that waits for word of it; 0 = it has had it
	answerBy time.Time // at the latest

	tier   string  // the watchdog that has sent it; "" = a person has
	meant  string  // the session that the watchdog has meant
	moot   string  // why it is not called for any more; "" = it is
	takers []taker // who want it back that is being tried
	life   string  // it was typed into
	output uint64  // bytes printed by then
	looks  int     // for its acknowledgement
}

func (d *delivery) draw() city.Send {
	return city.Send{ID: d.id, Text: d.first, Lines: d.lines, Bytes: d.bytes, Stage: d.stage,
		Why: d.why, Since: d.since}
}

// payload is of an event about it: never the text, which may be large, and nobody else's business.
func (d *delivery) payload() map[string]any {
	return map[string]any{"id": d.id, "bytes": d.bytes, "lines": d.lines}
}

// sender is who has sent it, for the log.
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

// all are its texts as they are shown: what is over, then what goes, then what waits.
func (b *outbox) all() []*delivery {
	all := slices.Clone(b.over)
	if b.going != nil {
		all = append(all, b.going)
	}
	return append(all, b.waiting...)
}

// queue puts a text among those that wait: what is sent now before what may be held back, else in order. One that
// was at the terminal already is the first of its kind.
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

// room says why one more text cannot be taken.
func (b *outbox) room(a *record, size int) string {
	n, bytes := len(b.waiting), size
	if b.going != nil {
		n++
		bytes += b.going.bytes
	}
	for _, d := range b.waiting {
		bytes += d.bytes
	}
	switch {
	case n >= city.MaxSends:
		return fmt.Sprintf("%d texts wait to be typed into agent %s already, and no more are "+
			"kept: `gcity agent unsend %s` takes them back", n, a.name, a.name)
	case bytes > city.MaxSend:
		return fmt.Sprintf("the texts that wait for agent %s would be %d bytes together, and %d "+
			"are kept: wait until some are typed, or put the text in a file and send its name",
			a.name, bytes, city.MaxSend)
	}
	return ""
}
