package tui

import (
	"io"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/feed"
)

type once struct{}

func (once) Init() tea.Cmd  { return nil }
func (once) View() tea.View { return tea.NewView("") }

func (o once) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if d, ok := msg.(*feed.Delivery); ok {
		d.Processed.Store(true)
		return o, tea.Quit
	}
	return o, nil
}

// Missed returns exactly the deliveries that a program did not read before it exited.
func TestUnreadDeliveriesAreKept(t *testing.T) {
	p := tea.NewProgram(once{}, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignalHandler())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.Run(); err != nil {
			t.Error(err)
		}
	})
	post := &feed.Sender{}
	first, second := "first", "second"
	post.Send(p, epoch, feed.News{Unreachable: &first})
	wg.Wait()
	for range 3 {
		post.Send(p, epoch, feed.News{Unreachable: &second})
	}
	missed := post.Missed()
	if len(missed) != 3 {
		t.Fatalf("%d deliveries were missed, want the last 3", len(missed))
	}
	for _, d := range missed {
		if *d.News.Unreachable != second {
			t.Errorf("%q was read, but is delivered again", *d.News.Unreachable)
		}
	}
}
