package tui

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

// hostile returns, by name, outputs of agents that try to do more than print text.
func hostile() map[string]string {
	return map[string]string{
		"clipboard":     "\x1b]52;c;ZXZpbA==\x07\x1b]52;c;?\x1b\\",
		"titles":        "\x1b]0;evil\x07\x1b]2;evil\x1b\\\x1b[22;0t\x1b[21t",
		"palette":       "\x1b]4;1;rgb:ff/00/00\x07\x1b]10;?\x07\x1b]104\x07",
		"folder":        "\x1b]7;file://evil/\x07\x1b]9;evil\x07\x1b]777;notify;evil;evil\x07",
		"link":          "\x1b]8;;http://evil\x07click\x1b]8;;\x07",
		"images":        "\x1b]1337;File=inline=1:AAAA\x07\x1bPq#0;2;0;0;0#0~~\x1b\\\x1b_Ga=T;AAAA\x1b\\",
		"strings":       "\x1b^evil\x1b\\\x1bXevil\x1b\\\x1bP$qm\x1b\\\x1bP+q544e\x1b\\",
		"reset":         "\x1bc\x1b[!p\x1b[?1049h\x1b[?1049l",
		"queries":       "\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[?2026$p\x1b[x\x1bZ\x05",
		"keys":          "\x1b[>1u\x1b[=31u\x1b[?u\x1b[>4;2m\x1b[?1000h\x1b[?2004h\x1b[?1003h",
		"c1":            "\u009b31mx\u009d0;evil\u009c\u0090q\u009c \x9b31m\x90",
		"no text":       "\xff\xfe\xc3\x28\xed\xa0\x80\x00\x7f\x08\x08\x08",
		"turned around": "\u202eabc\u202c\u2066x\u2069\u200fy\u061c",
		"invisible":     "a\u200bb\u2060c\ufeffd\u00ade\u115ff\u3164",
		"marks":         "e" + strings.Repeat("\u0301", 10000) + "z",
		"families":      strings.Repeat("👨‍👩‍👧‍👦🏳️‍🌈", 300),
		"margins":       "\x1b[5;3r\x1b[999;1r\x1b[?6h\x1b[999;999H\x1b[999999S\x1b[99999L\x1b[2147483648X",
		"endless SGR":   "\x1b[" + strings.Repeat("38;2;1;2;3;", 2000) + "mx",
	}
}

// Whatever an agent prints, only text and SGR in an intact frame reach the user's terminal (T1, T2, L12).
func TestHostileOutputThroughTheViewer(t *testing.T) {
	for name, output := range hostile() {
		for _, piece := range []int{len(output), 1 + len(output)/7} {
			viewing(t, func(ctx context.Context, _ string, yield func(city.Frame, error) bool) {
				yield(city.Frame{Reset: true, Cols: 70, Rows: 20, Data: []byte("before\r\n")}, nil)
				for rest := []byte(output); len(rest) > 0; {
					n := min(piece, len(rest))
					yield(city.Frame{Data: rest[:n]}, nil)
					rest = rest[n:]
				}
				yield(city.Frame{Data: []byte("\x1b\\\x18\x1b[r\x1b[?6l\x1b[m\r\n\r\nafterwards")}, nil)
				<-ctx.Done()
			}, func(v *feed.Viewer, b *feed.Mailbox) {
				s := demo(t, 80, 24)
				s.choose("builder")
				v.Show(feed.Watch{Agent: "builder", Session: "builder-1", Running: true})
				time.Sleep(feed.SettleDelay + time.Minute) // fake time; the viewer pauses while much output arrives
				p := seen(t, b)
				s.hear(feed.News{Pane: &p})
				s.frame(name)
				for _, k := range []string{"0", "f", "w", "k", "right", "F", "z", "m", "/", "v", "enter", "n"} {
					s.press(k)
					s.frame(name + " after " + k)
				}
				s.press("esc", "esc", "G")
				s.shows("afterwards")
				if name != "c1" && strings.Contains(s.text(), "evil") {
					t.Errorf("%s: the content of a control string is shown:\n%s", name, s.text())
				}
				onlyLines(t, s.m.Peek.All().Output(true))
				if text := s.m.Peek.All().Output(false); strings.ContainsRune(text, 0x1b) {
					t.Errorf("%s: the saved text has escape sequences: %q", name, text)
				}
			})
		}
	}
}

func onlyLines(t *testing.T, text string) {
	t.Helper()
	for l := range strings.SplitSeq(text, "\n") {
		tuitest.OnlyText(t, l)
	}
}

// Unterminated control strings and lines use a bounded amount of memory.
func TestEndlessOutputIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	const piece, pieces = 64 << 10, 200 // 12 MB
	const most = 3 << 20                // maximum memory growth in the second half of the output
	for name, c := range map[string]struct{ begin, more string }{
		"OSC":  {"\x1b]52;c;", "A"},
		"DCS":  {"\x1bPq", "~"},
		"CSI":  {"\x1b[", "1;"},
		"text": {"", "x"},
	} {
		s := terminal.NewScreen(120, 40, terminal.LogLines)
		_, _ = s.Write([]byte(c.begin)) // it never fails
		chunk := bytes.Repeat([]byte(c.more), piece/len(c.more))
		n := pieces
		if name == "text" { // drawing text is slower
			n = pieces / 12
		}
		var before, after runtime.MemStats
		for i := range n {
			if i == n/2 {
				runtime.GC()
				runtime.ReadMemStats(&before)
			}
			_, _ = s.Write(chunk)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > most {
			t.Errorf("%s: the second half used %d MB more", name, grown>>20)
		}
		_, _ = s.Write([]byte("\x1b\\\x18\r\ndone"))
		if text := ansi.Strip(strings.Join(s.Lines(120, 40), "\n")); !strings.Contains(text, "done") {
			t.Errorf("%s: the terminal does not recover: %q", name, text)
		}
	}
}

// Hostile names and hostile stored texts do not damage the frame.
func TestHostileTextOfThePane(t *testing.T) {
	s := demo(t, 120, 40)
	for name, output := range hostile() {
		s.choose("scout")
		s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Ended: true, Text: widget.AllPlain(output),
			Problem: output}})
		s.frame(name)
		s.agent("scout", func(a *city.Agent) {
			a.Exit = &city.Exit{Signal: output, File: output}
			a.Session = &city.Session{ID: fmt.Sprint(len(name)), Started: epoch}
		})
		s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Session: "1", Screen: terminalWith("one\r\n")}})
		s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Session: fmt.Sprint("2", name), Screen: terminalWith("two\r\n")}})
		s.frame(name + " as the end of a life")
		s.press("0", "ctrl+s", "esc", "1")
		s.frame(name)
	}
}
