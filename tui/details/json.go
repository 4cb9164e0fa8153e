package details

import (
	"bytes"
	"encoding/json"

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
	return prettyLines(raw)
}

func prettyLines(raw []byte) []string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return widget.AllPlain(string(raw))
	}
	return widget.AllPlain(b.String())
}
