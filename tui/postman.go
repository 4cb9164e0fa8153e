package tui

import (
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// delivery is what the pump brings.
type delivery struct {
	at    time.Time
	news  news
	heard atomic.Bool
}

// postman remembers what he has brought to one program: a program that ends, for a visit to an agent say, has not read
// the newest of it.
type postman struct{ recent []*delivery }

// send brings news; it returns when the program has taken them, or has ended.
func (p *postman) send(to *tea.Program, at time.Time, n news) {
	d := &delivery{at: at, news: n}
	p.recent = append(p.missed(), d)
	to.Send(d)
}

// missed is what the program has not heard of yet, oldest first.
func (p *postman) missed() []*delivery {
	return slices.DeleteFunc(p.recent, func(d *delivery) bool { return d.heard.Load() })
}
