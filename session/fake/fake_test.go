package fake_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"gcity/session"
	"gcity/session/fake"
	"gcity/session/sessiontest"
)

func TestConformance(t *testing.T) {
	var ids atomic.Int64
	sessiontest.Run(t, sessiontest.Harness{
		New: func(*testing.T) session.Provider { return fake.New() },
		Spec: func(_ *testing.T, _ session.Provider, name string) session.Spec {
			return session.Spec{Name: name, Agent: name, City: "/city", ID: fmt.Sprintf("id-%d", ids.Add(1)), Command: "cat", Dir: "/"}
		},
		Crash: func(t *testing.T, p session.Provider, name string) {
			if !p.(*fake.Provider).Crash(name, 7, "") {
				t.Fatalf("%s is not alive", name)
			}
		},
		Lose: func(_ *testing.T, p session.Provider) func() {
			f := p.(*fake.Provider)
			f.Lose(errors.New("no route to host"))
			return func() { f.Lose(nil) }
		},
		Work: func(t *testing.T, p session.Provider, name string) {
			if !p.(*fake.Provider).Take(name, session.Usage{CPU: time.Second, RSS: 1 << 20, Procs: 2}) {
				t.Fatalf("%s is not alive", name)
			}
		},
	})
}

// Users see these sessions, which therefore have no PIDs.
func TestConfiguredProviderHasNoProcesses(t *testing.T) {
	p := fake.NewConfigured()
	for _, name := range []string{"a", "b"} {
		st, err := p.Start(t.Context(), session.Spec{Name: name, Agent: name, ID: name})
		if err != nil || st.PID != 0 || !st.Alive {
			t.Errorf("%+v, %v", st, err)
		}
	}
}
