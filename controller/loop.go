package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/perform"
	"gcity/controller/pulse"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

const (
	stalled = 5 * time.Second
	batch   = 256
	// The minimum time between two snapshots is drawCost for each agent beyond the first freeAgents.
	freeAgents = 50
	drawCost   = 50 * time.Microsecond
)

type loop struct {
	c                 *Controller
	oneShot           bool
	patrol            *time.Ticker
	pulse             *time.Ticker
	wake              *time.Timer
	limit             *time.Timer // expires when the controller gives up stopping the city
	exits             <-chan session.Exit
	changes           <-chan struct{}
	health            string
	now               time.Time // time of the latest iteration
	wall              time.Time // now without its monotonic part
	next              time.Time // time by which the next iteration runs
	due               time.Time // time of a delayed snapshot; zero = none
	awaitingFirstList bool

	stopBy         time.Time       // when limit expires
	effects        []effect.Effect // reused by each iteration
	patrolInterval time.Duration
	pulseInterval  time.Duration
}

func (c *Controller) run(ctx context.Context, oneShot bool) error {
	select {
	case <-c.done:
		return errAlreadyRan
	default:
	}
	defer close(c.done)
	interval := c.m.Configuration().Patrol
	l := &loop{
		c: c, oneShot: oneShot, patrolInterval: interval, pulseInterval: c.pulse.Every(interval),
		awaitingFirstList: true,
		patrol:            time.NewTicker(interval), pulse: time.NewTicker(c.pulse.Every(interval)),
		wake:  time.NewTimer(time.Hour),
		limit: time.NewTimer(time.Hour),
	}
	l.limit.Stop()
	defer l.limit.Stop()
	defer l.patrol.Stop()
	defer l.pulse.Stop()
	defer l.wake.Stop()
	if n, ok := c.o.Provider.(session.Notifier); ok {
		l.exits = n.Exits()
	}
	if n, ok := c.o.Provider.(session.Changer); ok {
		l.changes = n.Changes()
	}
	if oneShot {
		c.m.SetOneShot()
	}
	err, fault := l.runCatchingPanics(func() error {
		c.sweep()
		err := l.handleInputs(ctx)
		c.publishEnd()
		return err
	})
	if fault != nil {
		return c.crash(fault)
	}
	c.runner.Finish(c.m.LoopState().LeftRunning)
	c.saveHistories()
	c.emptyInbox(c.recordLate)
	c.publishEnd()
	return errors.Join(err, c.shutdownPanic())
}

func (c *Controller) recordLate(in effect.Input) {
	now := time.Now()
	for _, a := range c.perform(now, c.m.Late(now, in)) {
		c.reply(a)
	}
}

func (c *Controller) sweep() {
	if c.o.Sweep == nil {
		return
	}
	n, err := c.o.Sweep()
	if err != nil {
		c.o.Logger.Warn("processes that an earlier run left behind did not stop", "err", err)
	}
	if n > 0 {
		c.o.Logger.Info("stopped processes that an earlier run left behind", "processes", n)
	}
}

func (l *loop) handleInputs(ctx context.Context) error {
	if !l.oneShot {
		l.c.perform(time.Now(), []effect.Effect{effect.Record{Event: events.Event{
			Type: events.ControllerStarted, Actor: effect.ActorController,
			Message: "revision " + step.Short(l.c.m.Configuration().Revision) + " is in force",
		}}})
	}
	in := effect.Input(effect.Tick{})
	done := ctx.Done()
	for {
		l.iterate(in)
		if l.over() {
			return l.result(ctx)
		}
		l.arm()
		select {
		case <-done:
			done = nil
			in = effect.Shutdown{Leave: l.oneShot}
		case <-l.limit.C:
			return l.abandon(ctx)
		case err := <-l.c.faults:
			panic(err)
		case <-l.c.gaveUp:
			return l.abandon(ctx)
		case <-l.c.hurry:
			in = effect.Hurry{}
		case <-l.patrol.C:
			in = effect.Tick{}
		case <-l.wake.C:
			in = effect.Wake{}
		case <-l.pulse.C:
			in = l.c.pulse.Input()
		case e := <-l.exits:
			in = effect.Exited{Exit: e}
		case <-l.changes:
			in = effect.SessionsChanged{}
		case <-l.c.o.ConfigChanged:
			in = effect.ConfigChanged{}
		case <-l.c.o.FoldersChanged:
			in = effect.FoldersChanged{}
		case d := <-l.c.o.ListenerStates:
			in = effect.ListenerChanged{Listener: d}
		case ping := <-l.c.pulse.Pings():
			l.c.pulse.Answer(ping)
			in = l.c.pulse.Input()
		case in = <-l.c.inbox:
		}
	}
}

func (l *loop) iterate(in effect.Input) {
	c := l.c
	now := time.Now()
	l.effects = l.effects[:0]
	if l.hasStalled(now) {
		l.effects = append(l.effects, c.m.Step(now, effect.Stalled{})...)
	}
	l.now, l.wall = now, now.Round(0)
	for n := 0; ; n++ {
		if in != nil {
			l.effects = append(l.effects, c.m.Step(now, in)...)
		}
		if n == batch {
			break
		}
		if in = l.waiting(); in == nil {
			break
		}
	}
	h := c.o.Log.Health()
	written := h.Queued == 0 // also the events of earlier iterations
	if h.Degraded != l.health || written && c.m.LoopState().Unwritten {
		l.health = h.Degraded
		l.effects = append(l.effects, c.m.Step(now,
			effect.LogHealth{Degraded: h.Degraded, Written: written})...)
	}
	c.limit.Store(int64(c.m.StopLimit()))
	replies := c.perform(now, l.effects)
	clear(l.effects)
	if l.awaitingFirstList && c.m.LoopState().Listed {
		l.awaitingFirstList = false
		l.publish(now, true)
		close(c.firstList)
	}
	l.publish(now, len(replies) > 0)
	c.logSlowStop(now)
	c.metrics.iterated(time.Since(now))
	c.pulse.Stamp()
	// a client that receives a reply must find the command's result in the snapshot
	for _, a := range replies {
		c.reply(a)
	}
	if c.o.Heartbeat != nil {
		c.o.Heartbeat(status(c.snap.Load()))
	}
}

// hasStalled reports whether the whole program, and probably every agent, was suspended or got no CPU time. The
// monotonic clock stands still while the computer sleeps, so the wall clock advances further than it does.
func (l *loop) hasStalled(now time.Time) bool {
	if l.next.IsZero() {
		return false
	}
	slept := now.Round(0).Sub(l.wall) - now.Sub(l.now)
	return now.Sub(l.next) > stalled || slept > stalled
}

func (l *loop) waiting() effect.Input {
	select {
	case in := <-l.c.inbox:
		return in
	case e := <-l.exits:
		return effect.Exited{Exit: e}
	default:
		return nil
	}
}

// publish publishes a snapshot if anything has changed. In a large city, it may leave this to a later iteration (see
// arm), unless atOnce is set.
func (l *loop) publish(now time.Time, atOnce bool) {
	c := l.c
	l.due = time.Time{}
	before := c.snap.Load()
	if !c.m.LoopState().Changed && before.Uncounted == c.uncounted.first() {
		return
	}
	beyond := max(0, len(before.Agents)-freeAgents)
	if at := before.At.Add(drawCost * time.Duration(beyond)); at.After(now) && !atOnce {
		l.due = at
		return
	}
	c.m.Published()
	c.publish(before, now)
}

func (l *loop) arm() {
	m := l.c.m
	if every := m.Configuration().Patrol; every != l.patrolInterval {
		l.patrolInterval = every
		l.patrol.Reset(l.patrolInterval)
	}
	if beat := l.c.pulse.Every(l.patrolInterval); beat != l.pulseInterval {
		l.pulseInterval = beat
		l.pulse.Reset(beat)
	}
	if by := m.LoopState().StopBy; !by.IsZero() && !by.Equal(l.stopBy) {
		l.stopBy = by
		l.limit.Reset(time.Until(by))
	}
	t := step.Earlier(m.Next(l.now), l.due)
	l.next = pulse.Due(l.now, l.pulseInterval, t)
	if !t.IsZero() {
		l.wake.Reset(max(time.Until(t), time.Millisecond))
	} else {
		l.wake.Stop()
	}
}

// StopLimit returns the maximum duration of a shutdown with the configuration in force. After that, Run no longer
// waits.
func (c *Controller) StopLimit() time.Duration { return time.Duration(c.limit.Load()) }

func (l *loop) over() bool {
	return l.c.m.LoopState().Ended || (l.oneShot && l.c.m.OneShotDone())
}

func (l *loop) abandon(ctx context.Context) error {
	now := time.Now()
	for _, a := range l.c.perform(now, l.c.m.GiveUpAgents(now)) {
		l.c.reply(a)
	}
	return l.result(ctx)
}

func (l *loop) result(ctx context.Context) error {
	if lost := l.c.m.LoopState().Lost; lost != nil {
		return fmt.Errorf("another controller took over the city, so this one left its agents "+
			"running: %w", lost)
	}
	if left := l.c.m.LoopState().StillRunning; left != "" {
		return fmt.Errorf("the city was stopped, but some agents might still be running: %s; %s",
			left, step.StillRunningAdvice)
	}
	if removed := l.c.removed.Load(); removed != nil {
		return *removed
	}
	if l.oneShot && ctx.Err() != nil {
		return fmt.Errorf("the city did not reach its configured state: %w; `gcity status` shows "+
			"what is missing", context.Cause(ctx))
	}
	return nil
}

// perform writes events before it starts other effects and before replies may be sent (L9).
func (c *Controller) perform(now time.Time, effects []effect.Effect) (replies []effect.Reply) {
	var records []events.Event
	for _, f := range effects {
		if r, ok := f.(effect.Record); ok {
			r.Event.TS = now
			r.Event = withoutSecrets(r.Event)
			records = append(records, r.Event)
			c.journal(r.Event)
			c.metrics.countEvent(r.Event.Type)
		}
	}
	var first uint64
	if len(records) > 0 {
		c.unpublished.Store(true)
		last, err := c.o.Log.Append(records...)
		effects = c.m.EventsAppended(effects, err)
		if err != nil {
			c.o.Logger.Warn("cannot write events", "err", err)
		} else {
			first = last - uint64(len(records)) + 1
			c.uncounted.add(records, first)
		}
	}
	written := uint64(0)
	for _, f := range effects {
		switch f := f.(type) {
		case effect.Record:
			for _, a := range f.Replies {
				if first > 0 {
					a.Receipt.Seq = first + written
				}
				replies = append(replies, a)
			}
			written++
		case effect.SendReply:
			replies = append(replies, f.Reply)
		case effect.Emit:
			c.uncounted.add([]events.Event{f.Event}, c.o.Log.Last()+1) // its seq or a lower one
			c.runner.Run(f)
		case effect.CountWork:
			c.uncounted.countBegins()
			c.runner.Run(f)
		default:
			c.runner.Run(f)
		}
	}
	if !c.m.LoopState().Counting {
		c.uncounted = uncounted{}
	}
	return replies
}

// uncounted is the seq of the first event about work that the published counts do not include.
type uncounted struct {
	inFlight uint64 // included in the count in flight; 0 = no such event
	later    uint64 // included only in the count after it; 0 = no such event
}

func (u *uncounted) first() uint64 { return cmp.Or(u.inFlight, u.later) }

func (u *uncounted) add(batch []events.Event, seq uint64) {
	for i := range batch {
		if u.later == 0 && city.ChangesWork(batch[i].Type) {
			u.later = seq + uint64(i)
		}
	}
}

func (u *uncounted) countBegins() { u.inFlight, u.later = u.later, 0 }

func (c *Controller) journal(e events.Event) {
	switch e.Type {
	case events.AutomationFailed:
		c.o.Logger.Warn("a run failed", "automation", e.Subject, "why", e.Message)
	case events.ConfigRejected:
		c.o.Logger.Warn("the configuration was rejected; the previous one stays in force", "why",
			e.Message)
	case events.ConfigReloaded:
		c.o.Logger.Info("the configuration was reloaded", "what", e.Message)
	}
}

func status(s *city.Snapshot) string {
	n := s.Count()
	text := fmt.Sprintf("%d of %d agents running", n[city.Running], len(s.Agents))
	if q := n[city.Quarantined]; q > 0 {
		text += fmt.Sprintf(", %d quarantined", q)
	}
	switch {
	case s.Config.Trust != "":
		text += ", changes on disk wait for your trust"
	case s.Config.Rejected != "":
		text += ", the configuration was rejected"
	case s.Config.Held != nil:
		text += ", a configuration change is waiting for confirmation"
	}
	return text
}

func (c *Controller) send(ctx context.Context, in effect.Input) error {
	select {
	case c.inbox <- in:
		return nil
	case <-c.done:
		return perform.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
