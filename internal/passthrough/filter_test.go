package passthrough

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func filtered(allow Set, pieces ...string) string {
	f := Filter{Allow: allow}
	var out []byte
	for _, p := range pieces {
		out = f.Append(out, []byte(p))
	}
	return string(f.Flush(out))
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		what, in, out string
		class         Set // the setting that allows the sequence; 0 = only --raw does
	}{
		{"clipboard", "a\x1b]52;c;aGk=\x07b", "ab", Clipboard},
		{"clipboard, ST", "a\x1b]52;c;aGk=\x1b\\b", "ab", Clipboard},
		{"clipboard, 8-bit", "a\x9d52;c;aGk=\x9cb", "ab", Clipboard},
		{"clipboard, 8-bit as UTF-8", "a\u009d52;c;aGk=\u009cb", "ab", Clipboard},
		{"clipboard, another number", "a\x1b]0052;c;aGk=\x07b", "ab", Clipboard},
		{"clipboard, emptied", "a\x1b]52;c;\x07b", "ab", Clipboard},
		{"clipboard, read", "a\x1b]52;c;?\x07b", "ab", ClipboardRead},
		{"clipboard, kitty's", "a\x1b]5522;type=read;dGV4dA==\x1b\\b", "ab", ClipboardRead},
		{"clipboard, iTerm2's", "a\x1b]1337;Copy=:aGk=\x07b", "ab", Clipboard},
		{"clipboard, in a title", "\x1b]0;x\x1b]52;c;aGk=\x07b", "\x1b]0;xb", Clipboard},
		{"clipboard, in another", "a\x1b]52;c;\x1b]52;c;aGk=\x07b", "ab", 0},
		{"clipboard, for the terminal around tmux", "a\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\b", "a\x1b\\b", 0},
		{"clipboard, for the terminal around screen", "a\x1bP\x1b]52;c;aGk=\x07\x1b\\b", "a\x1b\\b", 0},
		{"clipboard, split by a dropped sequence", "\x1b\x1b[5i]52;c;aGk=\x07", "]52;c;aGk=\x07", 0},
		{"clipboard, with controls", "a\x1b]5\x002;c;aGk=\x07b", "ab", 0},
		{"clipboard, with a split number", "a\x1b]5\x1b[5i2;c;aGk=\x07b", "a2;c;aGk=\x07b", 0},
		{"clipboard, with a separate ESC", "a\x1b\x00]52;c;aGk=\x07b", "a\x00]52;c;aGk=\x07b", 0},
		{"clipboard, in an incomplete character", "a\xe2\x9d52;c;aGk=\x07b", "a\xe2b", Clipboard},
		{"clipboard, in a different encoding", "a\x1b%@\xe2\x80\x9d52;c;aGk=\x07", "a\xe2\x80\x9d52;c;aGk=\x07", 0},
		{"title report", "a\x1b[21tb", "ab", TitleReport},
		{"icon report", "a\x1b[020;0tb", "ab", TitleReport},
		{"title report, 8-bit", "a\x9b21tb", "ab", TitleReport},
		{"title report, with controls", "a\x1b[2\n1tb", "ab", TitleReport},
		{"title report, overflowing", "a\x1b[4294967317tb", "ab", TitleReport},
		{"title report, urxvt's", "a\x1b]2;?\x07b", "ab", TitleReport},
		{"title report, too long", "a\x1b[" + strings.Repeat("0", 2000) + "21tb", "ab", 0},
		{"DECRQSS", "a\x1bP$qm\x1b\\b", "ab", DCSRequest},
		{"XTGETTCAP", "a\x1bP+q544e\x1b\\b", "ab", DCSRequest},
		{"programmed keys", "a\x1bP1;1|17/726d\x1b\\b", "ab", DCS},
		{"macro", "a\x1bP1;0;0!zxx\x1b\\b", "ab", DCS},
		{"tmux's control mode", "a\x1bP1000pb\x1b\\c", "ac", DCS},
		{"media copy", "a\x1b[5ib", "ab", MediaCopy},
		{"auto print", "a\x1b[?5ib", "ab", MediaCopy},
		{"answerback", "a\x05b", "ab", Answerback},
		{"answerback, within a sequence", "a\x1b[\x05mb", "a\x1b[mb", Answerback},
		{"checksum of the screen", "a\x1b[1;0;1;1;9;9*yb", "ab", ScreenReport},
		{"font report", "a\x1b]50;?\x07b", "ab", OSC},
		{"running a program", "a\x1b]9;7;\"cmd\"\x07b", "ab", OSC},
		{"storing a file", "a\x1b]1337;File=name=eA==:aGk=\x07b", "ab", OSC},
		{"an upload", "a\x1b]1337;RequestUpload=format=tgz\x07b", "ab", OSC},
		{"urxvt's extensions", "a\x1b]777;eval;x\x07b", "ab", OSC},
		{"screen's commands", "a\x1b]83;exec\x07b", "ab", OSC},
		{"VT52", "a\x1b[?2lb", "ab", 0},
		{"Tektronix", "a\x1b[?1;38hb", "ab", 0},
	} {
		for cut := range len(c.in) + 1 {
			if got := filtered(0, c.in[:cut], c.in[cut:]); got != c.out {
				t.Errorf("%s, cut at %d: got %q, want %q", c.what, cut, got, c.out)
			}
			if c.class == 0 {
				continue
			}
			if got := filtered(c.class, c.in[:cut], c.in[cut:]); got != c.in && c.what != "clipboard, in a title" {
				t.Errorf("%s, allowed, cut at %d: got %q", c.what, cut, got)
			}
			if got := filtered((1<<len(names)-1)&^c.class, c.in[:cut], c.in[cut:]); strings.HasPrefix(got, c.in) {
				t.Errorf("%s passes although a different class is allowed, cut at %d: %q",
					c.what, cut, got)
			}
		}
	}
}

// ordinary lists output that the filter passes unchanged.
var ordinary = []string{
	"plain\r\n\ttext \a\b\x0e\x0f\x7f", "ä ” 漢字 👩‍💻 \u00a0", "\x1b[1;38;2;1;2;3mx\x1b[0m\x1b[38:2::1:2:3m", "\x1b[?1049h\x1b[22;0;0t\x1b[2J\x1b[H\x1b[?25l",
	"\x1b[c\x1b[>c\x1b[=c\x1b[6n\x1b[?6n\x1b[5n\x1b[>q\x1b[?u\x1b[?2026$p\x1bZ\x1b[14t\x1b[16t\x1b[18t", "\x1b[8;24;80t\x1b[23;2t",
	"\x1b]0;a title ”\x07\x1b]2;x\x1b\\\x1b]1;\x07", "\x1b]4;1;?\x07\x1b]10;?\x1b\\\x1b]11;?\x07\x1b]12;#ffffff\x07", "\x1b]104\x07\x1b]104;1\x1b\\\x1b]112\x1b\\",
	"\x1b]7;file://h/home\x1b\\\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "\x1b]133;A;click_events=1\x07\x1b]9;4;1;50\x07\x1b]9;done\x07\x1b]777;notify;a;b\x1b\\",
	"\x1bP0;1;0q\"1;1;2;2#0;2;0;0;0#0~~@@vv$\x1b\\", "\x1bP=1s\x1b\\\x1bP=2s\x1b\\", "\x1b_Gf=100,a=T;aGk=\x1b\\", "\x1b]1337;File=name=eA==;inline=1:aGk=\x07",
	"\x1b(0lqqk\x1b(B\x1b)0\x1b#8\x1b%G\x1b7\x1b8\x1b=\x1b>\x1bM\x1bD\x1b F\x1bc\x1b[!p", "\x1b[2 q\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[4h\x1b[?1000;1006h\x1b[?1l",
	"\x1bktitle\x1b\\", "\x1b]P0123456\x1b]R", "\x9b1mlatin\x9b0m \xe9\xff\x85", "\u009b1mx", "\x1b[2\b2mx", "\x1b]50;CursorShape=1\x07",
}

func TestOrdinaryOutputPasses(t *testing.T) {
	all := strings.Join(ordinary, "")
	for _, in := range append(ordinary, all) {
		for cut := range len(in) + 1 {
			if got := filtered(0, in[:cut], in[cut:]); got != in {
				t.Errorf("%q, cut at %d: got %q", in, cut, got)
			}
		}
	}
	got, err := io.ReadAll(iotest.OneByteReader(NewReader(iotest.HalfReader(strings.NewReader(all+"\xe2\x80")), 0)))
	if err != nil || string(got) != all+"\xe2\x80" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := io.ReadAll(NewReader(iotest.ErrReader(io.ErrUnexpectedEOF), 0)); err != io.ErrUnexpectedEOF {
		t.Errorf("%v", err)
	}
}

// forbidden matches sequences that filtered output must not contain. It expects the output of narrow.
var forbidden = regexp.MustCompile(`(\x1b\]|\x9d)0*52[;\x07\x1b\x9c]|(\x1b\[|\x9b)[?>=]?0*2[01]([;:][0-9;:]*)?t|(\x1b\[|\x9b)[0-?]*[ -/]*i|(\x1bP|\x90)[0-?]*[$+]q|\x05`)

// narrow drops control characters that terminals ignore within sequences. It unifies both encodings of C1 controls.
func narrow(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch c := b[0]; {
		case n == 1 && (c >= 0x20 && c != del || c == esc || c == bel || c == can || c == sub || c == enq):
			out = append(out, c)
		case n == 2 && r < 0xa0:
			out = append(out, byte(r))
		case n > 1:
			out = append(out, 'w')
		}
		b = b[n:]
	}
	return out
}

// The output contains nothing that forbidden matches, however the input is divided.
func FuzzFilter(f *testing.F) {
	for _, s := range ordinary {
		f.Add([]byte(s), 1)
	}
	for _, s := range []string{"\x1b]52;c;aGk=\x07", "\x1b[21t", "\x1bP$qm\x1b\\", "\x1b[?5i", "\xe2\x9d52;c;x\x07", "\x1b\x1b[5i]52;c;x\x07", "\x1bPtmux;\x1b\x1b]52;c;x\x07\x1b\\", "\xc2\x1b[5i\x9d52;c;x\a", "\x1b]5\x1b[5i2;c;x\a"} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		whole := filtered(0, string(in))
		if again := filtered(0, whole); again != whole {
			t.Errorf("%q: got %q, then %q", in, whole, again)
		}
		if found := forbidden.Find(narrow([]byte(whole))); found != nil {
			t.Errorf("%q: got %q, which contains %q", in, whole, found)
		}
		if step < 1 {
			return
		}
		var flt Filter
		var got []byte
		for rest := in; len(rest) > 0; {
			n := min(step, len(rest))
			got, rest = flt.Append(got, rest[:n]), rest[n:]
			if len(flt.held) > maxCSI+1 {
				t.Fatalf("got %d buffered bytes", len(flt.held))
			}
		}
		if got = flt.Flush(got); string(got) != whole {
			t.Errorf("%q in steps of %d: got %q, want %q", in, step, got, whole)
		}
	})
}

func TestParse(t *testing.T) {
	for i, name := range Names() {
		if s, err := Parse([]string{name}); err != nil || s != 1<<i {
			t.Errorf("%s: got %b, %v", name, s, err)
		}
	}
	if TitleReport != 1<<(len(names)-1) {
		t.Error("the numbers of classes and names differ")
	}
	if _, err := Parse([]string{"clipboard", "all"}); err == nil || !strings.Contains(err.Error(), "title-report") {
		t.Errorf("%v", err)
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, text := range map[string]string{"text": strings.Repeat("a line of a log with words\r\n", 1000), "colors": strings.Repeat("\x1b[38;2;1;2;3mx\x1b[0m ä", 1000)} {
		b.Run(name, func(b *testing.B) {
			var f Filter
			out := bytes.Repeat([]byte{0}, 2*len(text))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				out = f.Append(out[:0], []byte(text))
			}
		})
	}
}
