package pty

import (
	"testing"

	"gcity/session"
	"gcity/session/sessiontest"
)

func TestConformance(t *testing.T) {
	sessiontest.Run(t, harness(newProvider))
}

func TestStopSignals(t *testing.T) { sessiontest.StopSignals(t, harness(newProvider)) }

// harness returns the suite's harness for providers that open returns.
func harness(open func(t testing.TB, city string) *Provider) sessiontest.Harness {
	return sessiontest.Harness{
		New: func(t *testing.T) session.Provider { return open(t, t.TempDir()) },
		Spec: func(t *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(*Provider).files.city, name, `while read -r line; do case $line in
				crash) exit 7 ;;
				work) (while :; do :; done) & ;;
				*) printf '%s\n' "$line" ;;
			esac; done`)
		},
		Crash: func(t *testing.T, p session.Provider, name string) {
			if err := p.Send(t.Context(), name, "crash"); err != nil {
				t.Fatal(err)
			}
		},
		Work: func(t *testing.T, p session.Provider, name string) {
			if err := p.Send(t.Context(), name, "work"); err != nil {
				t.Fatal(err)
			}
		},
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			old := p.(*Provider)
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, old.files.city)
		},
	}
}
