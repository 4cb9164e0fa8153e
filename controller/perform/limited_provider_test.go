package perform

import (
	"context"
	"sync"
	"testing"

	"gcity/internal/eventually"
	"gcity/session"
)

// platform is a provider with starts that wait until all of them have begun.
type platform struct {
	session.Provider
	begun sync.WaitGroup
}

func (p *platform) Start(ctx context.Context, _ session.Spec) (session.Status, error) {
	session.Progress(ctx, "waits for a node")
	p.begun.Done()
	p.begun.Wait()
	session.Progress(ctx, "is being prepared")
	return session.Status{}, nil
}

// Starts that wait for their platform do not delay other starts, and their progress is still reported.
func TestWaitingStartsNeedNoSlot(t *testing.T) {
	const n = 5
	p, ends := &platform{}, make(chan error, n)
	p.begun.Add(n)
	pace := &limitedProvider{Provider: p, slots: make(chan struct{}, 1), forked: func(string) {}}
	var mu sync.Mutex
	reports := map[string]int{}
	ctx := session.WithProgress(t.Context(), func(why string) {
		mu.Lock()
		defer mu.Unlock()
		reports[why]++
	})
	for range n {
		go func() {
			_, err := pace.Start(ctx, session.Spec{})
			ends <- err
		}()
	}
	for range n {
		if err := eventually.Receive(t, "a start", ends); err != nil {
			t.Fatal(err)
		}
	}
	if reports["waits for a node"] != n || reports["is being prepared"] != n {
		t.Errorf("reports: %v", reports)
	}
	if len(pace.slots) != 0 {
		t.Errorf("%d slots are still taken", len(pace.slots))
	}
}
