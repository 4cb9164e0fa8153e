package sessiontest

import (
	"strings"
	"testing"
	"time"

	"gcity/session"
)

// StopSignals tests which signal Stop sends, for providers that can read the mode of the agent's terminal.
func StopSignals(t *testing.T, h Harness) {
	for _, c := range []struct {
		name, command, signal string
		typed                 string // line to type when the session is ready
		code                  int    // expected exit code; -1 for any
	}{
		{name: "a shell at its prompt", command: "echo ready; exec sh -i", code: -1},
		{name: "a program started by a shell", command: "echo ready; PS1='prompt> ' exec sh -i",
			code:  -1,
			typed: "sh -c 'trap \"echo caught; exit\" INT; echo waiting; " + Idle + "'"},
		{name: "a script with an INT trap", code: 7,
			command: "trap 'sleep 0.5; exit 7' INT; trap 'exit 8' HUP; echo ready; " + Idle},
		{name: "a configured stop signal", code: 9, signal: "usr1",
			command: "trap '' INT; trap 'exit 9' USR1; echo ready; " + Idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			if h.Parallel {
				t.Parallel()
			}
			p := h.New(t)
			s := h.Spec(t, p, "a")
			s.Command, s.StopSignal = c.command, c.signal
			if _, err := p.Start(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			prints := func(word string) {
				t.Helper()
				wait(t, word, func() bool {
					text, err := p.Output(t.Context(), "a", 10)
					return err == nil && strings.Contains(text, "\n"+word) ||
						strings.HasPrefix(text, word)
				})
			}
			prints("ready")
			if c.typed != "" {
				prints("prompt>") // a shell can drop text that is typed before it prompts
				Send(t, p, "a", c.typed)
				prints("waiting")
			}
			if err := p.Stop(t.Context(), "a", time.Hour); err != nil {
				t.Fatal(err)
			}
			var exit session.Exit
			if st := dead(t, p, "a"); st.Exit != nil {
				exit = *st.Exit
			}
			if !exit.Asked || c.code >= 0 && exit.Code != c.code {
				t.Errorf("got %+v, want exit code %d", exit, c.code)
			}
		})
	}
}
