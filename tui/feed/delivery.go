package feed

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Delivery is what the pump brings.
type Delivery struct {
	Of    *Runner // the runner of its room
	At    time.Time
	News  News
	Heard atomic.Bool
}

// Sender remembers what he has brought to one program: a program that ends, for a visit to an agent say, has not read
// the newest of it.
type Sender struct {
	of     *Runner
	recent []*Delivery
}

// Send brings news; it returns when the program has taken them, or has ended.
func (p *Sender) Send(to *tea.Program, at time.Time, n News) {
	d := &Delivery{Of: p.of, At: at, News: n}
	p.recent = append(p.Missed(), d)
	to.Send(d)
}

// Missed is what the program has not heard of yet, oldest first.
func (p *Sender) Missed() []*Delivery {
	return slices.DeleteFunc(p.recent, func(d *Delivery) bool { return d.Heard.Load() })
}

// Deliveries are the senders of one program, one for each room that is shown in it. They belong to the goroutine that
// turns the model, and to whoever waits for that one.
type Deliveries struct {
	Ctx  context.Context
	Gap  time.Duration
	To   *tea.Program
	stop context.CancelFunc // of the newest, nil = there is none
	all  []round
}

// round is one postman on his way.
type round struct {
	r     *Runner
	post  *Sender
	ended chan struct{}
}

// Begin has news of a room brought, and no more of the room before. It does not wait.
func (p *Deliveries) Begin(r *Runner) {
	if p.stop != nil {
		p.stop()
	}
	pumping, stop := context.WithCancel(p.Ctx)
	p.stop = stop
	missed := r.Missed
	r.Missed = nil
	n := round{r, &Sender{of: r}, make(chan struct{})}
	p.all = append(p.all, n)
	r.Spawn("pump", func(context.Context) {
		defer close(n.ended)
		for _, d := range missed {
			n.post.Send(p.To, d.At, d.News)
		}
		r.Pump(pumping, p.Gap, func(at time.Time, what News) { n.post.Send(p.To, at, what) })
	})
}

// End waits for all of them, once the program has ended, and keeps for each room what it has not heard of.
func (p *Deliveries) End() {
	if p.stop != nil {
		p.stop()
	}
	for _, n := range p.all {
		<-n.ended
		n.r.Missed = append(n.r.Missed, n.post.Missed()...)
	}
}
