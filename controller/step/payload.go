package step

import (
	"encoding/json"
	"fmt"
)

// Payload encodes the payload of an event as JSON.
func Payload(v map[string]any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}

// Numbered formats a process ID. It returns "" for an unknown ID, for example that of a remote session.
func Numbered(pid int, format string) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf(format, pid)
}
