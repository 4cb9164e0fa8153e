package agents

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/output"
)

// printing is a city whose agents print text and exit.
type printing struct {
	city.Control
	text string
}

func (p printing) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return printed{strings.NewReader(p.text)}, nil
}

type printed struct{ io.Reader }

func (printed) Write(b []byte) (int, error) { return len(b), nil }
func (printed) Resize(int, int) error       { return nil }
func (printed) Close() error                { return nil }

// After an attachment, the user's terminal has no modes of the agent's program.
func TestModesAfterAttach(t *testing.T) {
	pairs := map[string]string{ // what the program prints, and what must follow
		"\x1b[?1005h": "\x1b[?1005l", "\x1b[?1015h": "\x1b[?1015l", "\x1b[?1016h": "\x1b[?1016l",
		"\x1b[?2026h": "\x1b[?2026l", "\x1b[?2031h": "\x1b[?2031l", "\x1b[?2048h": "\x1b[?2048l",
		"\x1b[>1u": "\x1b[?1049l\x1b[<9u", "\x1b[?1049h\x1b[>5u": "\x1b[<9u", "\x1b[>4;2m": "\x1b[>4;0m",
		"\x1b[4 q": "\x1b[0 q", "\x1b(0": "\x1b(B", "\x1b[?6h": "\x1b[?6l", "\x1b[?1007h": "\x1b[?1007r",
		"\x1b]4;1;red\a": "\x1b]104\x1b\\", "\x1b]10;red\a": "\x1b]110\x1b\\", "\x1b]11;red\a": "\x1b]111\x1b\\",
		"\x1b]12;red\a": "\x1b]112\x1b\\",
	}
	all := ""
	for set := range pairs {
		all += set
	}
	const end = "the program's last words"
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		out, _ := io.ReadAll(master) // EIO: the other end is closed
		shown <- string(out)
	}()
	var said bytes.Buffer
	none := func(string) string { return "" }
	e := &env.Env{In: tty, Printer: output.Printer{Out: tty, Err: &said, Getenv: none}}
	f := printing{citytest.NewFake("town"), all + end}
	if err := attach(t.Context(), e, &env.Link{Control: f}, "shell", true); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	tty.Close()
	_, after, _ := strings.Cut(<-shown, end)
	for set, reset := range pairs {
		if !strings.Contains(after, reset) {
			t.Errorf("%q is not reset by %q: %q", set, reset, after)
		}
	}
}
