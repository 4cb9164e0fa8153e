package feed

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Delivery is a message from the pump to a program.
type Delivery struct {
	Of    *Runner // runner of its room
	At    time.Time
	News  News
	Heard atomic.Bool
}

// Sender records the deliveries to one program. A program that ends, for example to attach, may not have read the
// newest deliveries.
type Sender struct {
	of     *Runner
	recent []*Delivery
}

// Send sends news. It returns when the program has received the news or has ended.
func (p *Sender) Send(to *tea.Program, at time.Time, n News) {
	d := &Delivery{Of: p.of, At: at, News: n}
	p.recent = append(p.Missed(), d)
	to.Send(d)
}

// Missed returns the deliveries that the program has not processed, oldest first.
func (p *Sender) Missed() []*Delivery {
	return slices.DeleteFunc(p.recent, func(d *Delivery) bool { return d.Heard.Load() })
}

// Deliveries contains the senders of one program, one for each room that the program shows. The model's goroutine
// owns the Deliveries until the program ends. After that, the goroutine that calls End owns it.
type Deliveries struct {
	Ctx  context.Context
	Gap  time.Duration
	To   *tea.Program
	stop context.CancelFunc // stops the newest sender; nil = none
	all  []round
}

// round is one running sender.
type round struct {
	r     *Runner
	post  *Sender
	ended chan struct{}
}

// Begin starts to send the news of a room and stops the sender of the previous room. It does not wait.
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

// End waits for all senders after the program has ended, and stores for each room the news that it has missed.
func (p *Deliveries) End() {
	if p.stop != nil {
		p.stop()
	}
	for _, n := range p.all {
		<-n.ended
		n.r.Missed = append(n.r.Missed, n.post.Missed()...)
	}
}
