package output

import (
	"bytes"
	"encoding/json"

	"gcity/internal/screen"
)

// JSONList writes a long list in the form of List, piece by piece, so that it need not fit into memory.
type JSONList[T any] struct {
	Printer *Printer
	n       int
}

// Add writes items.
func (l *JSONList[T]) Add(items []T) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("    ", "  ")
	for i := range items {
		lead := ",\n    "
		if l.n == 0 {
			lead = "{\n  \"items\": [\n    "
		}
		b.WriteString(lead)
		if err := e.Encode(items[i]); err != nil {
			return err
		}
		b.Truncate(b.Len() - len("\n"))
		l.n++
	}
	return l.write(b.Bytes())
}

// End writes the end of the list. The total is the number of items; it is missing if whole is false.
func (l *JSONList[T]) End(whole bool) error {
	tail := struct {
		Items []T  `json:"items"`
		Total *int `json:"total,omitempty"`
	}{Items: []T{}}
	if whole {
		tail.Total = &l.n
	}
	text, err := json.MarshalIndent(tail, "", "  ")
	if err != nil {
		return err
	}
	if l.n > 0 { // the beginning of the list has been written
		_, text, _ = bytes.Cut(text, []byte("["))
		text = append([]byte("\n  "), text...)
	}
	return l.write(append(text, '\n'))
}

func (l *JSONList[T]) write(b []byte) error {
	_, err := l.Printer.Out.Write(screen.EscapeJSON(b))
	l.Printer.keepError(err)
	return err
}
