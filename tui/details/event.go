package details

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Payload returns an event's payload as lines. For an object, the lines are its fields, sorted by name.
func Payload(src *Source, raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	lines := []string{"", src.Look.Paint(themes.Title, "Payload")}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return append(lines, prettyLines(raw)...)
	}
	room := widget.FieldWidth - 2
	for name := range fields {
		room = min(24, max(room, widget.Width(widget.Plain(name))))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		label := widget.Plain(name)
		for _, text := range valueLines(fields[name]) {
			lines = append(lines, src.Look.Paint(themes.Dim,
				src.Look.Fit(label, room)+"  ")+text)
			label = ""
		}
	}
	return lines
}

// Event returns the details of an event.
func Event(src *Source, r *panel.EventRow) []string {
	e, p := &r.Event, newPage(src)
	p.Show("when", e.TS.In(p.Now.Location()).Format(time.RFC3339Nano)+", "+
		widget.Ago(e.TS, p.Now))
	p.Show("about", r.Subject)
	p.ShowPlain("by", e.Actor)
	p.ShowAll("message", widget.PlainLines(e.Message))
	p.Show("seq", fmt.Sprint(e.Seq))
	p.Add(Payload(src, e.Payload)...)
	return p.Lines
}
