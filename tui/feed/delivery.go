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
	Runner    *Runner
	At        time.Time
	News      News
	Processed atomic.Bool
}

// Sender sends news to one program and records the deliveries, because a program that quits might miss the newest.
type Sender struct {
	runner *Runner
	recent []*Delivery
	done   chan struct{} // closed when it has stopped
}

// Send sends news. It returns when the program has received the news or has exited.
func (p *Sender) Send(to *tea.Program, at time.Time, n News) {
	d := &Delivery{Runner: p.runner, At: at, News: n}
	p.recent = append(p.Missed(), d)
	to.Send(d)
}

// Missed returns the deliveries that the program has not processed, oldest first.
func (p *Sender) Missed() []*Delivery {
	return slices.DeleteFunc(p.recent, func(d *Delivery) bool { return d.Processed.Load() })
}

// Deliveries contains a program's senders, one per room. The model's goroutine owns it until the program ends,
// and then the caller of Finish.
type Deliveries struct {
	Ctx     context.Context
	Gap     time.Duration
	Program *tea.Program
	stop    context.CancelFunc // stops the newest sender; nil = none
	senders []*Sender
}

// Start starts sending a room's news, and stops the previous room's sender. It does not wait.
func (p *Deliveries) Start(r *Runner) {
	if p.stop != nil {
		p.stop()
	}
	pumping, stop := context.WithCancel(p.Ctx)
	p.stop = stop
	missed := r.Missed
	r.Missed = nil
	n := &Sender{runner: r, done: make(chan struct{})}
	p.senders = append(p.senders, n)
	r.Spawn("pump", func(context.Context) {
		defer close(n.done)
		for _, d := range missed {
			n.Send(p.Program, d.At, d.News)
		}
		r.Pump(pumping, p.Gap, func(at time.Time, what News) { n.Send(p.Program, at, what) })
	})
}

// Finish waits for all senders after the program has ended, and stores the unprocessed news.
func (p *Deliveries) Finish() {
	if p.stop != nil {
		p.stop()
	}
	for _, n := range p.senders {
		<-n.done
		n.runner.Missed = append(n.runner.Missed, n.Missed()...)
	}
}
