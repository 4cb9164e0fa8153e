package pty

import (
	"testing"

	"gcity/session"
	"gcity/session/sessiontest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, harness(newProvider))
}

func TestStopSignals(t *testing.T) {
	t.Parallel()
	sessiontest.StopSignals(t, harness(newProvider))
}

func TestNotUTF8(t *testing.T) {
	t.Parallel()
	sessiontest.NotUTF8(t, harness(newProvider))
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	sessiontest.FullDisk(t, func(city string) session.Provider { return newProvider(t, city) },
		func(city, name string) session.Spec { return spec(city, name, "exec sleep 1000") })
}

func harness(open func(t testing.TB, city string) *Provider) sessiontest.Harness {
	return sessiontest.Harness{
		Parallel: true,
		New:      func(t *testing.T) session.Provider { return open(t, t.TempDir()) },
		Spec: func(_ *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(*Provider).files.city, name, sessiontest.Agent)
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
