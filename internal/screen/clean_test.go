package screen

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/grapheme"
)

// Plain makes agents' output, names and titles safe to show (T1, T2, L12).
func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "hello", "hello"},
		{"line end", "hello\r\n", "hello"},
		{"color", "\x1b[31mred", "red"},
		{"color closed", "\x1b[1;31mred\x1b[0m.", "red."},
		{"color and tab", "\x1b[1;31mred\x1b[0m\tx\n", "red     x"},
		{"tab", "a\tb\t\tc", "a       b               c"},
		{"tab after wide", "世\tb", "世      b"},
		{"newline inside", "a\nb", "a␊b"},
		{"carriage return inside", "safe\rrm -rf", "safe␍rm -rf"},
		{"bell and backspace", "a\a\b", "a␇␈"},
		{"delete", "a\x7fb", "a␡b"},
		{"title", "\x1b]0;owned\x07x", "x"},
		{"clipboard", "\x1b]52;c;Zm9v\x1b\\x", "x"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"device control", "\x1bP$qm\x1b\\x", "x"},
		{"apc pm sos", "\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\x", "x"},
		{"reset", "\x1bcx", "x"},
		{"query", "\x1b[6n\x1b[>c\x1b[?1049h\x1b[2Jx", "x"},
		{"kitty keyboard is not color", "\x1b[>4;1mx\x1b[?1mx", "xx"},
		{"c1 byte", "\x9b31mx", "\ufffd31mx"},
		{"c1 character", "\u009b31mx", "\ufffd31mx"},
		{"bad UTF-8", "\xff\xc3x", "\ufffd\ufffdx"},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"bidi", "a\u202eb\u2066c", "a\ufffdb\ufffdc"},
		{"zero width", "a\u200bb\ufeffc", "a\ufffdb\ufffdc"},
		{"lonely joiner", "\u200d", "\ufffd"},
		{"tag smuggling", "a\U000E0041", "a\ufffd"},
		{"line separator", "a\u2028b", "a\ufffdb"},
		{"accent", "e\u0301", "e\u0301"},
		{"emoji of four", "👩‍👩‍👧‍👦!", "👩!"},
		{"emoji with a shade and a selector", "👍🏽 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪!", "👍 ❤ 1 🇩🇪!"},
		{"letters that are joined", "क्\u200dष e\u0301", "क्\u200dष e\u0301"},
		{"combining storm", "e" + strings.Repeat("\u0301", 10000) + "!", "\ufffd!"},
		{"unfinished sequence", "a\x1b[31", "a\ufffd"},
		{"unfinished string", "a\x1b]0;title", "a\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Plain(c.in); got != c.want {
				t.Errorf("Plain(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestPlainTruncates(t *testing.T) {
	got := Plain("\x1b[31m" + strings.Repeat("世", 3000))
	if len(got) > maxLine || !strings.HasSuffix(got, "世…") {
		t.Errorf("got %d bytes that end with %q", len(got), got[len(got)-12:])
	}
	if got := Plain(strings.Repeat("a", maxLine)); len(got) != maxLine || strings.Contains(got, "…") {
		t.Error("a line of exactly the limit was cut")
	}
}

func checkSafe(t *testing.T, line string) {
	t.Helper()
	if !utf8.ValidString(line) {
		t.Fatalf("not UTF-8: %q", line)
	}
	for rest := line; rest != ""; {
		if strings.HasPrefix(rest, "\x1b") {
			n := strings.IndexByte(rest, 'm')
			if n < 0 || !strings.HasPrefix(rest, "\x1b[") || strings.Trim(rest[2:n], "0123456789;:") != "" {
				t.Fatalf("got an escape sequence other than SGR in %q", line)
			}
			rest = rest[n+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		if unicode.IsControl(r) || unsafeRune(r) {
			t.Fatalf("%U in %q", r, line)
		}
		rest = rest[n:]
	}
	if i := strings.LastIndex(line, "\x1b["); i >= 0 {
		if last := line[i:]; !strings.HasPrefix(last, "\x1b[m") && !strings.HasPrefix(last, "\x1b[0m") {
			t.Fatalf("a style is not reset at the end of %q", line)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		plain := Plain(in)
		checkSafe(t, plain)
		if len(plain) > maxLine {
			t.Fatalf("%d bytes", len(plain))
		}
		if strings.Contains(plain, "\x1b") {
			t.Fatalf("Plain left an escape sequence: %q", plain)
		}
		if Plain(plain) != plain {
			t.Fatalf("Plain is not idempotent: %q", plain)
		}
	})
}

// hostile seeds the fuzzing of both Plain and Screen.
var hostile = []string{
	"plain text\r\n\x1b[1;32mok\x1b[0m\tdone\r\n",
	"\x1b[1;60r\x1b[1T", "\x1b[5;10r\x1b[20L\x1b[99M", "\x1b[2147483647b", "\x1b[2147483647I\x1b[2147483647X\x1b[99999999P",
	"a\x1b[99999999999999999999999999b", "\x1b[?1049h\x1b[2Jx\x1b[?1049l", "\x1b7\x1b[999;999H\x1b8\x1b[u\x1b[s",
	"\x1b[?69h\x1b[5;200s\x1b[@", "\x1b[6n\x1b[c\x1b[>c\x1b[?2048h\x1b]10;?\x07\x1b[?1$p", "\x1b]52;c;Zm9v\x07\x1b]0;t\x1b\\",
	"\x1bP+q544e\x1b\\\x1b_G\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\", "\x1bc\x1b[!p\x1b#8\x1b(0lqk\x1b(B\x0elqk\x0f",
	"世界世界世界世界世界世界", "e\u0301\u0301👩‍👩‍👧‍👦🇩🇪🇩", "\xff\xfe\xc3\x28\xe2\x82", "\u202e\u200b\u2028\ufeff\u00ad",
	"\x1b[4hab\x1b[D\x1b[Dcd\x1b[4l", "\x1b[?6h\x1b[3;4r\x1b[9;9H\r\n\n\n", "\x1b[3g\t\tx\x1bH\ty", "\x1b[41m\n\n\n\n\n\n\x1b[m\n",
	"e" + strings.Repeat("\u0301", 900) + "x", "\x1b[38:2::1:2:3mx\x1b[58;5;3;4:3my", strings.Repeat("y\r\n", 100),
}

func TestWidthOfPlaceholders(t *testing.T) {
	for _, s := range []string{grapheme.Placeholder, ellipsis, "␛", "␡", "␊"} {
		if w := ansi.StringWidth(s); w != 1 {
			t.Errorf("%q has %d columns, want 1", s, w)
		}
	}
}

func TestFirstItem(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "one": "one", "one\n": "one", "one\r\ntwo": "one and 1 more", "\none\n\ntwo\nthree\n": "one and 2 more", "\x1b[31ma\tb\nc": "a       b and 1 more",
	} {
		if one, others := FirstItem(in); one+others != want {
			t.Errorf("%q: got %q %q, want %q", in, one, others, want)
		}
	}
}
