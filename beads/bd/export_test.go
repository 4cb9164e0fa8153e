package bd

import (
	"encoding/json"

	"gcity/beads"
	"gcity/internal/shell"
)

// Understand returns the beads that the store reads from one output of bd, or an error.
func Understand(args []string, got shell.CallResult) ([]beads.Bead, error) {
	if got.Code != 0 {
		return nil, failure(args, got)
	}
	text, ok := payload(got.Stdout)
	if !ok {
		return nil, nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(text, &raw) != nil {
		raw = []json.RawMessage{text}
	}
	var all []beads.Bead
	for _, text := range raw {
		b, err := read(text)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}
