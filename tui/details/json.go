package details

import (
	"bytes"
	"encoding/json"
	"strings"

	"gcity/tui/widget"
)

func valueLines(raw json.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil && !bytes.Equal(raw, []byte("null")) {
		if lines := widget.PlainLines(text); len(lines) > 0 {
			return lines
		}
		return []string{"-"}
	}
	var lines []string
	for _, p := range strings.Split(pretty(raw), "\n") {
		lines = append(lines, widget.Plain(p))
	}
	return lines
}

func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
