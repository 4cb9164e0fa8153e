package screen

import (
	"strings"
	"testing"
)

func inPieces(s string, ends ...int) string {
	var (
		stream Stream
		out    strings.Builder
		from   int
	)
	for _, end := range append(ends, len(s)) {
		out.WriteString(stream.Clean([]byte(s[from:end])))
		from = end
	}
	return out.String() + stream.End()
}

// The cleaned text does not depend on how the stream is divided (L12).
func TestStream(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lines", "one\ntwo\r\nthree", "one\ntwo\nthree"},
		{"color", "\x1b[31mred\x1b[0m and \x1b]0;title\x07plain\n", "red and plain\n"},
		{"a bar painted over itself", "\r10%\r20%\x1b[K\r\r\n30%\r", "10%\n20%\n30%"},
		{"tab", "a\tb\n\tc", "a       b\n        c"},
		{"tab after wide", "世\tb", "世      b"},
		{"controls", "a\a\b\x7f", "a␇␈␡"},
		{"several bytes", "größer 世界\n", "größer 世界\n"},
		{"accent", "caf\u0065\u0301!", "caf\u0065\u0301!"},
		{"flags", "🇩🇪🇫🇷", "🇩🇪🇫🇷"},
		{"emoji of four", "👩‍👩‍👧‍👦!", "👩!"},
		{"emoji with a shade and a selector", "👍🏽 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪!", "👍 ❤ 1 🇩🇪!"},
		{"letters that are joined", "क्\u200dष e\u0301", "क्\u200dष e\u0301"},
		{"bad UTF-8", "\xff\xc3x", "\ufffd\ufffdx"},
		{"unfinished character", "x\xe4\xb8", "x\ufffd\ufffd"},
		{"unfinished sequence", "a\x1b[31", "a\ufffd"},
		{"turned around", "a\u202eb\u2028c", "a\ufffdb\ufffdc"},
		{"lonely mark", "\u0301\nx\n\u0301", "\ufffd\nx\n\ufffd"},
		{"a long line", strings.Repeat("x", 3*maxLine), strings.Repeat("x", 3*maxLine)},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := inPieces(c.in); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range min(len(c.in), 100) {
				if got := inPieces(c.in, i); got != c.want {
					t.Errorf("cut at %d: got %q, want %q", i, got, c.want)
				}
			}
			var every []int
			for i := range c.in {
				every = append(every, i)
			}
			if got := inPieces(c.in, every...); got != c.want {
				t.Errorf("one by one: got %q, want %q", got, c.want)
			}
		})
	}
}

// The stream does not hold back characters for a combining mark.
func TestStreamReturnsCharactersImmediately(t *testing.T) {
	var s Stream
	for _, piece := range []string{"a", "b:", "\n", "世", "é "} {
		if got := s.Clean([]byte(piece)); got != piece {
			t.Errorf("%q gave %q", piece, got)
		}
	}
}

func FuzzStream(f *testing.F) {
	for i, s := range hostile {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		var ends []int
		for i := int(step%7) + 1; i < len(in); i += int(step%7) + 1 {
			ends = append(ends, i)
		}
		for _, text := range []string{inPieces(string(in)), inPieces(string(in), ends...)} {
			for line := range strings.SplitSeq(text, "\n") {
				checkSafe(t, line)
				if strings.Contains(line, "\x1b") {
					t.Fatalf("got an escape sequence in %q", line)
				}
			}
		}
	})
}
