package api

import (
	"bytes"
	"encoding/json"
	"strings"
)

// duplicateKey returns the first key that occurs twice in an object of valid JSON, or "". Programs disagree about which
// of the two values counts. In the outermost object, keys that differ only in case are duplicates, because Go ignores
// case when it matches field names.
func duplicateKey(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type object struct {
		keys   map[string]bool // nil for an array
		isName bool
	}
	var open []object
	for {
		t, err := d.Token()
		if err != nil {
			return "" // this is io.EOF, because the JSON is valid
		}
		var in *object
		if n := len(open); n > 0 {
			in = &open[n-1]
		}
		name, isString := t.(string)
		if in != nil && in.isName && isString {
			key := name
			if len(open) == 1 {
				key = strings.ToLower(name)
			}
			if in.keys[key] {
				return name
			}
			in.keys[key], in.isName = true, false
			continue
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if in != nil {
			in.isName = in.keys != nil
		}
		switch t {
		case json.Delim('{'):
			open = append(open, object{keys: map[string]bool{}, isName: true})
		case json.Delim('['):
			open = append(open, object{})
		}
	}
}
