package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// A real shell reads quoted text as one word with the same content.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "plain", "--flag", "two words", "it's", "''", "$HOME", "`ls`", "a\nb\n", "~", "~root", "*", "?[a]", "{a,b}",
		"a=b", "#x", "!!", "\\", "\\n", "\"", "é ü", "\xff\xfe", "\r\t\v", "%s", "-n", ";", "&&", "x>y", "^"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) || len(text) > 64<<10 {
			t.Skip("not a valid argument")
		}
		out, err := exec.Command("/bin/sh", "-c", "printf '%s|' x "+Quote(text)+" y").Output()
		if err != nil || string(out) != "x|"+text+"|y|" {
			t.Errorf("%q as %s: got %q, %v", text, Quote(text), out, err)
		}
	})
}
