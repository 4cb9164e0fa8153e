package tui

import (
	"io"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// once is a program that ends with the first thing it hears of.
type once struct{}

func (once) Init() tea.Cmd  { return nil }
func (once) View() tea.View { return tea.NewView("") }

func (o once) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if d, ok := msg.(*delivery); ok {
		d.heard.Store(true)
		return o, tea.Quit
	}
	return o, nil
}

// What a program that ends did not read is known, in order, and what it read is not brought twice.
func TestUnreadPostIsKept(t *testing.T) {
	p := tea.NewProgram(once{}, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignalHandler())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.Run(); err != nil {
			t.Error(err)
		}
	})
	post := &postman{}
	first, second := "first", "second"
	post.send(p, epoch, news{gone: &first})
	wg.Wait()
	for range 3 {
		post.send(p, epoch, news{gone: &second})
	}
	missed := post.missed()
	if len(missed) != 3 {
		t.Fatalf("%d deliveries were missed, want the last 3", len(missed))
	}
	for _, d := range missed {
		if *d.news.gone != second {
			t.Errorf("%q was heard, and is brought again", *d.news.gone)
		}
	}
}
