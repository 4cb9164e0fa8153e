package session

import (
	"io"

	"gcity/internal/passthrough"
)

// Filtered returns a terminal that filters the output of t. It drops escape sequences except those that draw and those
// in classes.
func Filtered(t Terminal, classes []string) (Terminal, error) {
	allow, err := passthrough.Parse(classes)
	if err != nil {
		return nil, err
	}
	return &filtered{t, passthrough.NewReader(t, allow)}, nil
}

type filtered struct {
	Terminal
	out io.Reader
}

func (f *filtered) Read(p []byte) (int, error) { return f.out.Read(p) }
