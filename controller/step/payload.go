package step

import (
	"encoding/json"
)

// Payload encodes values that always can be.
func Payload(v map[string]any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}
