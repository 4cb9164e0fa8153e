package tui

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// delivery is what the pump brings.
type delivery struct {
	of    *station // whom it is for
	at    time.Time
	news  news
	heard atomic.Bool
}

// postman remembers what he has brought to one program: a program that ends, for a visit to an agent say, has not read
// the newest of it.
type postman struct {
	station *station
	recent  []*delivery
}

// send brings news; it returns when the program has taken them, or has ended.
func (p *postman) send(to *tea.Program, at time.Time, n news) {
	d := &delivery{of: p.station, at: at, news: n}
	p.recent = append(p.missed(), d)
	to.Send(d)
}

// missed is what the program has not heard of yet, oldest first.
func (p *postman) missed() []*delivery {
	return slices.DeleteFunc(p.recent, func(d *delivery) bool { return d.heard.Load() })
}

// posts are the postmen of one stretch, one for each room that is shown in it. They belong to the goroutine that
// turns the model, and to whoever waits for that one.
type posts struct {
	ctx  context.Context
	gap  time.Duration
	to   *tea.Program
	stop context.CancelFunc // of the newest, nil = there is none
	all  []round
}

// round is one postman on his way.
type round struct {
	s     *station
	post  *postman
	ended chan struct{}
}

// begin has news of a room brought, and no more of the room before. It does not wait.
func (p *posts) begin(s *station) {
	if p.stop != nil {
		p.stop()
	}
	pumping, stop := context.WithCancel(p.ctx)
	p.stop = stop
	missed := s.missed
	s.missed = nil
	n := round{s, &postman{station: s}, make(chan struct{})}
	p.all = append(p.all, n)
	s.r.spawn("pump", func(context.Context) {
		defer close(n.ended)
		for _, d := range missed {
			n.post.send(p.to, d.at, d.news)
		}
		s.r.pump(pumping, p.gap, func(at time.Time, what news) { n.post.send(p.to, at, what) })
	})
}

// end waits for all of them, once the program has ended, and keeps for each room what it has not heard of.
func (p *posts) end() {
	if p.stop != nil {
		p.stop()
	}
	for _, n := range p.all {
		<-n.ended
		n.s.missed = append(n.s.missed, n.post.missed()...)
	}
}
