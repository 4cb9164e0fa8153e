package perform

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/pty"
)

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
	r := New(World{Provider: p})
	f := effect.Send{Agent: "a", Session: "a", Life: "one", ID: 7, Text: "sent", Polite: true,
		Prefix: "> "}
	if err := p.SendKeys(t.Context(), "a", "half"); err != nil {
		t.Fatal(err)
	}
	shows("> half here")
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held != city.HoldScreen || in.Wait != screenAgain ||
		!in.Disturbed || in.Err != nil {
		t.Errorf("beside a draft: %+v", in)
	}
	if err := p.SendKeys(t.Context(), "a", "C-u"); err != nil { // the terminal erases the line
		t.Fatal(err)
	}
	shows(">      here")
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held != "" || in.Err != nil ||
		in.Output == 0 {
		t.Errorf("beside a hint: %+v", in)
	}
	shows("> sent here\nsent")
	f.Life = "another"
	if in := r.Sessions.send(t.Context(), f).(effect.Sent); in.Held == "" && in.Err == nil {
		t.Errorf("into another life: %+v", in)
	}
}
