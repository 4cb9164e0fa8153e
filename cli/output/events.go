package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/events"
)

// OldestFirst returns a copy of the events, oldest first.
func OldestFirst(page []events.Event) []events.Event {
	page = slices.Clone(page)
	slices.SortFunc(page, func(x, y events.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	return page
}

// PrintEvent writes an event as text or, with --json, as a line of JSON.
func (p *Printer) PrintEvent(e events.Event) error {
	if p.JSON {
		return p.WriteJSONLine(e)
	}
	p.WriteEvent(e)
	return p.OutputError()
}

// WriteEvent writes one event as a line of text.
func (p *Printer) WriteEvent(e events.Event) {
	p.Sayf("%s  %s  %s  %s", p.Paint(Dim, fmt.Sprintf("%6d", e.Seq)),
		p.Paint(Dim, e.TS.Local().Format("2006-01-02 15:04:05")),
		p.Paint(eventColor(e.Type), SafeLine(fmt.Sprintf("%-26s", e.Type))), eventText(e))
}

func eventColor(kind string) string {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed,
		events.ConfigRejected, events.Gap:
		return Red
	case events.AgentStarted, events.AgentReleased, events.ControllerStarted:
		return Green
	default:
		return ""
	}
}

// WriteEventLines writes events without sequence numbers.
func (p *Printer) WriteEventLines(indent string, page []events.Event) {
	var times []time.Time
	for _, e := range page {
		times = append(times, e.TS)
	}
	stamp := p.Stamps(times)
	for _, e := range page {
		p.Sayf("%s%s", indent, SafeLine(fmt.Sprintf("%s  %-19s %s", stamp(e.TS), e.Type,
			eventText(e))))
	}
}

func eventText(e events.Event) string {
	text := e.Subject
	if e.Message != "" {
		if text != "" {
			text += "  "
		}
		text += SafeLead(e.Message)
	}
	by := e.Actor
	if by == "controller" || by != "" && strings.HasSuffix(e.Message, "by "+by) {
		by = ""
	}
	if e.Peer != "" {
		by = strings.TrimSpace(by + " " + e.Peer)
	}
	if by != "" {
		text += "  (" + by + ")"
	}
	return SafeLine(text)
}
