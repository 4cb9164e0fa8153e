package tmux

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// BenchmarkPatrol measures a patrol with 100 idle agents, and counts its tmux calls.
func BenchmarkPatrol(b *testing.B) {
	const n = 100
	city := b.TempDir()
	p := newProvider(b, city)
	var wg sync.WaitGroup
	turns := make(chan struct{}, 4)
	for i := range n {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if _, err := p.Start(context.Background(), spec(city, fmt.Sprintf("agent-%03d", i), "exec sleep 100000")); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	before := p.tmux.execs.Load()
	for b.Loop() {
		if list, err := p.List(context.Background()); err != nil || len(list) != n {
			b.Fatal(len(list), err)
		}
	}
	b.ReportMetric(float64(p.tmux.execs.Load()-before)/float64(b.N), "tmux/op")
}
