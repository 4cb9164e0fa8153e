package api_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
)

// A status of a large city, from a client that is connected already.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{20, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var agents []city.Agent
			for i := range n {
				agents = append(agents, city.Agent{Name: fmt.Sprintf("agent-%03d", i), Running: true, Command: "claude --print"})
			}
			l, err := api.Listen(filepath.Join(b.TempDir(), "s"))
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- api.Serve(b.Context(), l, citytest.NewFake("town", agents...), api.Options{}) }()
			c, err := api.Dial(l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				c.Close()
				if err := <-ended; err != nil {
					b.Error(err)
				}
			})
			for b.Loop() {
				if _, err := c.Snapshot(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
