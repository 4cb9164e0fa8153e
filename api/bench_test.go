package api_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/city"
	"gcity/city/citytest"
)

// BenchmarkSnapshot requests the status of a large city over an existing connection.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{20, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var agents []city.Agent
			for i := range n {
				agents = append(agents, city.Agent{
					Name: fmt.Sprintf("agent-%03d", i), Running: true, Declaration: city.Declaration{Command: "claude --print", Dir: "/cities/town/work", Source: "city.toml:12:1"}, Decisions: make([]city.Decision, 4), Session: &city.Session{Name: "a", ID: "b"},
				})
			}
			l, err := socket.Listen(filepath.Join(b.TempDir(), "s"))
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- api.Serve(b.Context(), l, citytest.NewFake("town", agents...), api.Options{}) }()
			c, err := client.Dial(l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				c.Close()
				if err := <-ended; err != nil {
					b.Error(err)
				}
			})
			for name, ask := range map[string]func(context.Context) (*city.Snapshot, error){"whole": c.Snapshot, "brief": c.BriefSnapshot} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if _, err := ask(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
