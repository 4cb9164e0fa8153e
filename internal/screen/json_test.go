package screen

import (
	"encoding/json"
	"strings"
	"testing"
)

// EscapeJSON escapes the characters that a terminal would interpret. A parser still reads the same text.
func TestEscapeJSON(t *testing.T) {
	for _, s := range []string{"a\u009b31mb", "\u202egnp.exe", "x\u2066y\u2069", "\u007f", "\u2028", "tag\U000E0041", "größer 👩\u200d💻 日本", `"\u009b"`} {
		raw, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		out := EscapeJSON(raw)
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil || back[s] != s {
			t.Errorf("%q: %s: %v", s, out, err)
		}
		if strings.ContainsAny(string(out), "\u009b\u202e\u2066\u2069\u007f\u2028\U000E0041") {
			t.Errorf("%q: %q", s, out)
		}
	}
	if got := string(EscapeJSON([]byte(`"größer 👩‍💻"`))); got != `"größer 👩‍💻"` {
		t.Error(got)
	}
}
