package perform

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/eventually"
	"gcity/internal/screen"
	"gcity/session"
	"gcity/session/pty"
)

func TestDrafted(t *testing.T) {
	for _, c := range []struct {
		prefix, raw string
		want        bool
	}{
		{"> ", "hello\r\n> ", false},
		{"> ", "hello\r\n> half a li", true},
		{"> ", "> half\r\nworking…", false}, // the cursor is in another line
		{"> ", "hello\r\n>", false},
		{"> ", "> \x1b[2mtry \"fix it\"\x1b[22m\x1b[1;3H", false}, // faint text is a suggestion
		{"> ", "> \x1b[2mtry\x1b[0m x", true},
		{"> ", "\x1b[2m> \x1b[0mhalf", true}, // a faint prompt
		{"> ", "> \x1b[38;2;2;2;2mhalf\x1b[0m", true},
		{"> ", "> \x1b[38;5;2mhalf\x1b[0m", true},
		{"> ", "> \x1b[1;2mfaint and bold\x1b[0m", false},
		{"> ", ">\u00a0", false},
		{"> ", ">\u00a0half", true},
		{"│ >", "╭──╮\r\n│ >      │\r\n╰──╯\x1b[2;5H", false},
		{"│ >", "╭──╮\r\n│ > half │\r\n╰──╯\x1b[2;9H", true},
		{"$ ", "$ größer", true},
		{"$ ", "$x", true},
		{"❯ ", "", false},
		// suggestions whose first character is under the cursor
		{"❯ ", "❯\u00a0\x1b[7mT\x1b[27m\x1b[2mry \"edit it\"\x1b[22m\x1b[1;3H", false},
		{"* ", " \x1b[31m*\x1b[39m \x1b[7m \x1b[27m\x1b[90m Type it\x1b[39m\x1b[1;4H", false},
		{"* ", " * \x1b[7mT\x1b[27m\x1b[38;2;1;2;3mype it\x1b[39m │\x1b[1;4H", false},
		{"Ask anything", "┃\r\n┃  \x1b[38;5;244mAsk anything... \"Fix it\"\x1b[39m\x1b[2;4H", false},
		// drafts with the cursor on the first character
		{"❯ ", "❯\u00a0\x1b[7mT\x1b[27mry\x1b[1;3H", true},
		{"❯ ", "❯ \x1b[7mT\x1b[27m\x1b[1;3H", true},
		{"❯ ", "❯ \x1b[7mT\x1b[27m\x1b[2mry\x1b[22m it\x1b[1;3H", true},
		{"❯ ", "❯ half\x1b[7m \x1b[27m\x1b[2mway\x1b[22m\x1b[1;7H", true},
		{"* ", " * half\x1b[7m \x1b[27m", true},
	} {
		f := session.Frame{Reset: true, Cols: 40, Rows: 10, Data: []byte(c.raw)}
		if got := holdOn(f, c.prefix, nil); (got != "") != c.want || c.want && got != city.HoldScreen {
			t.Errorf("%q on %q: got %q", c.prefix, c.raw, got)
		}
	}
}

// A message is not typed into a list from which the program wants a user to select, or into another dialog.
func TestListHolds(t *testing.T) {
	for raw, want := range map[string]city.Hold{
		"❯ begin\r\n● Bash\r\n\r\nProceed?\r\n ❯ 1. Yes\r\n   2. No\r\n":      city.HoldQuestion,
		"│ ❯\u00a01. Yes │\r\n│   2. No  │\r\n":                               city.HoldQuestion,
		"❯ begin\r\n│   1. Once   │\r\n│ ● 2. Always │\r\n":                   city.HoldQuestion,
		"● 1. done\r\n  2. done\r\n❯ ":                                        "",
		"❯ 1. read the plan\r\n  2. begin\r\n\r\n────\r\n❯\u00a0\r\n────\r\n": "",
		"❯ 1. read the plan\r\n\r\n1. done\r\n2. done\r\n":                    "",
		"❯ begin\r\n1. done\r\n2. done\r\n❯ ":                                 "",
		"❯ /cost\r\n\r\n  Settings  Usage\r\n\r\n  Esc to cancel":             city.HoldQuestion,
		"● Press Esc to cancel it\r\n────\r\n❯ ":                              "",
	} {
		f := session.Frame{Reset: true, Cols: 40, Rows: 12, Data: []byte(raw)}
		if got := holdOn(f, "❯ ", []session.Dialog{{Says: []string{"Esc to cancel"}}}); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

// holdOn does not panic on any output or prefix.
func FuzzDrafted(f *testing.F) {
	f.Add("> \x1b[2;38;5mx\xff", "> ", 10, 3)
	f.Fuzz(func(t *testing.T, raw, prefix string, cols, rows int) {
		blank := session.Frame{Cols: cols % 200, Rows: rows % 60, Data: []byte(raw)}
		if holdOn(blank, prefix, nil) != "" && raw == "" {
			t.Error("an empty screen counts as a draft")
		}
	})
}

// twofold is a provider that combines two providers, and shows the same screen for every session.
type twofold struct {
	session.Provider
	data string
}

func (s twofold) Watch(context.Context, string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		yield(session.Frame{Reset: true, Cols: 40, Rows: 10, Data: []byte(s.data)}, nil)
	}
}

func (twofold) LimitsOf(provider string) session.Limits {
	if provider == "pipes" {
		return session.Limits{Lacks: []session.Ability{session.Attaching}}
	}
	return session.Limits{}
}

func (s twofold) Output(context.Context, string, int) (string, error) {
	return screen.Text([]byte(s.data), 40, 10, 0), nil
}

func (twofold) CheckOf(context.Context, string) error { return nil }

// hangsOn is a provider that never reads the screen of one session.
type hangsOn struct {
	twofold
	session string
}

func (s hangsOn) Output(ctx context.Context, name string, lines int) (string, error) {
	if name == s.session {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return s.twofold.Output(ctx, name, lines)
}

// A provider that hangs does not delay other providers.
func TestScreensOfProviders(t *testing.T) {
	in := make(chan effect.Input)
	r := New(World{Options: Options{Provider: hangsOn{session: "hangs"}}, Inbox: in})
	t.Cleanup(func() { r.Cancel(); close(r.closed) })
	for range maxScreens {
		go r.Sessions.readScreen(effect.ReadScreen{Session: "hangs", Provider: "far"})
	}
	slots := r.Sessions.screenSlots("far")
	eventually.True(t, "the screens are being read", func() bool { return len(slots) == maxScreens })
	go r.Sessions.readScreen(effect.ReadScreen{Agent: "b", Session: "b", Provider: "near"})
	if got := eventually.Receive(t, "the other screen", in); got.(effect.ScreenRead).Agent != "b" {
		t.Errorf("got %+v", got)
	}
}

// Drafts and questions are detected only on screens. The output of a provider without screens contains none.
func TestDraftsAreOnScreens(t *testing.T) {
	r := New(World{Options: Options{Provider: twofold{data: "> 1. Yes\r\n  2. No\x1b[1;9H"}}})
	for provider, want := range map[string]city.Hold{"terminals": city.HoldScreen, "": city.HoldScreen,
		"pipes": "", "exec:./mux": ""} {
		f := effect.Send{Agent: "a", Session: "a", Life: "one", Polite: true, Provider: provider,
			Prefix: "> "}
		if why, _ := r.Sessions.disturbed(t.Context(), f, session.Status{}); why != want {
			t.Errorf("%q: got %q, want %q", provider, why, want)
		}
		in := r.Sessions.findQuestion(t.Context(), effect.ReadScreen{Provider: provider, Prefix: "> "})
		if (in.Question != nil) != (want != "") {
			t.Errorf("%q: got the question %v", provider, in.Question)
		}
	}
}

// A time in the future was read before the clock was set back. It does not hold a message back.
func TestTypingInTheFuture(t *testing.T) {
	r := New(World{Options: Options{Provider: twofold{}}})
	f := effect.Send{Agent: "a", Session: "a", Life: "one", Polite: true}
	for ahead, want := range map[time.Duration]city.Hold{
		effect.TypingPause - time.Millisecond: city.HoldTyping, time.Hour: "", -time.Hour: ""} {
		st := session.Status{TypedAt: time.Now().Add(ahead)}
		if why, _ := r.Sessions.disturbed(t.Context(), f, st); why != want {
			t.Errorf("%v: got %q, want %q", ahead, why, want)
		}
	}
}

// A draft on a real screen is detected even if no viewer typed it. A hint that the program printed is not a draft.
func TestPromptOnARealScreen(t *testing.T) {
	dir := t.TempDir()
	p, err := pty.New(pty.Options{City: dir, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	spec := session.Spec{
		Name: "a", Agent: "a", City: dir, ID: "one", Dir: dir, Cols: 60, Rows: 10,
		Env:     []string{"PATH=" + os.Getenv("PATH"), "GC_SESSION_ID=one"},
		Command: `printf 'up\n> \033[2mtype here\033[0m\033[9D'; exec cat`,
	}
	if _, err := p.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(t.Context(), "a", 0); err != nil {
			t.Error(err)
		}
		if err := p.Acknowledge(t.Context(), "a", "one"); err != nil {
			t.Error(err)
		}
	}()
	shows := func(text string) {
		t.Helper()
		var out string
		var err error
		eventually.True(t, fmt.Sprintf("%q is shown", text), func() bool {
			out, err = p.Output(t.Context(), "a", 0)
			return err == nil && strings.Contains(out, text)
		}, func() string { return fmt.Sprintf("%q, %v", out, err) })
	}
	shows("> type here")
	r := New(World{Options: Options{Provider: p}})
	f := effect.Send{Agent: "a", Session: "a", Life: "one", ID: 7, Text: "sent", Polite: true,
		Prefix: "> "}
	if err := p.SendKeys(t.Context(), "a", "half"); err != nil {
		t.Fatal(err)
	}
	shows("> half here")
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held != city.HoldScreen || in.Wait != screenAgain ||
		!in.Disturbed || in.Err != nil {
		t.Errorf("send with a draft on the screen: got %+v", in)
	}
	if err := p.SendKeys(t.Context(), "a", "C-u"); err != nil { // the terminal erases the line
		t.Fatal(err)
	}
	shows(">      here")
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held != "" || in.Err != nil ||
		in.Output == 0 {
		t.Errorf("send with a hint on the screen: got %+v", in)
	}
	shows("> sent here\nsent")
	if in := r.Sessions.findQuestion(t.Context(), effect.ReadScreen{Session: "a", Prefix: "> "}); in.Question != nil || in.Err != nil {
		t.Errorf("the program's prompt: got %+v", in)
	}
	if err := p.SendKeys(t.Context(), "a", "> 1. Yes", "Enter", "  2. No", "Enter"); err != nil {
		t.Fatal(err)
	}
	shows("  2. No")
	if in := r.Sessions.findQuestion(t.Context(), effect.ReadScreen{Session: "a", Prefix: "> "}); in.Question == nil || in.Err != nil {
		t.Errorf("a list: got %+v", in)
	}
	st, err := session.LookAt(t.Context(), p, "a")
	if err != nil || st.Output == 0 {
		t.Fatalf("got the status %+v, %v", st, err)
	}
	for unless, unchanged := range map[uint64]bool{st.Output: true, st.Output - 1: false} {
		in := r.Sessions.findQuestion(t.Context(), effect.ReadScreen{Session: "a", Prefix: "> ", Unless: unless})
		if in.Unchanged != unchanged || in.Printed != st.Output || (in.Question == nil) != unchanged {
			t.Errorf("unless %d: got %+v", unless, in)
		}
	}
	f.Life = "another"
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held == "" && in.Err == nil {
		t.Errorf("send to a different session: got %+v", in)
	}
}
