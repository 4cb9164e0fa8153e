package controller

import (
	"bytes"
	"encoding/json"

	"gcity/events"
	"gcity/internal/redact"
)

// A reason may contain a command line.
func withoutSecrets(e events.Event) events.Event {
	e.Message = redact.Text(e.Message)
	if text := string(e.Payload); redact.Text(text) == text {
		return e
	}
	var about any
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.UseNumber()
	if d.Decode(&about) != nil {
		return e
	}
	if data, err := json.Marshal(hideIn(about)); err == nil {
		e.Payload = data
	}
	return e
}

func hideIn(v any) any {
	switch v := v.(type) {
	case string:
		return redact.Text(v)
	case []any:
		for i := range v {
			v[i] = hideIn(v[i])
		}
	case map[string]any:
		for name, value := range v {
			if text, is := value.(string); is && redact.Name(name) && text != "" {
				v[name] = redact.Hidden
				continue
			}
			v[name] = hideIn(value)
		}
	}
	return v
}
