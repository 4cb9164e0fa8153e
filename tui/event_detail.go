package tui

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// payloadLines show what an event carries: an object's fields by name, anything else as it is.
func payloadLines(m *model, raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	lines := []string{"", m.look.Paint(themes.Title, "Payload")}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		for _, p := range strings.Split(panel.Pretty(raw), "\n") {
			lines = append(lines, widget.Plain(p))
		}
		return lines
	}
	room := widget.FieldWidth - 2
	for name := range fields {
		room = min(24, max(room, widget.Width(widget.Plain(name))))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		label := widget.Plain(name)
		for _, text := range panel.ValueLines(fields[name]) {
			lines = append(lines, m.look.Paint(themes.Dim,
				widget.Fit(label, room, m.look.Glyphs.More)+"  ")+text)
			label = ""
		}
	}
	return lines
}
