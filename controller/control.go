package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/internal/suggest"
	"gcity/session"
)

// publishLimit is the maximum time that a client waits for the snapshot that reflects the newest events.
const publishLimit = 500 * time.Millisecond

// Snapshot implements city.Control. If the loop is stuck, it waits at most for publishLimit.
func (c *Controller) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	c.pulse.Refresh(ctx, c.done)
	return c.publishedSnapshot(ctx), nil
}

// publishedSnapshot returns a snapshot that reflects all events up to its Seq. If the loop has not yet published that
// snapshot, publishedSnapshot waits for it, but at most for publishLimit.
func (c *Controller) publishedSnapshot(ctx context.Context) *city.Snapshot {
	// The order matters: the publication that closes changed reflects all events up to seq.
	seq := c.o.Log.Last()
	changed := c.change()
	if c.unpublished.Load() {
		ctx, cancel := context.WithTimeout(ctx, publishLimit)
		defer cancel()
		select {
		case <-changed:
		case <-c.done:
		case <-ctx.Done():
		}
	}
	return c.snapshotAt(seq)
}

func (c *Controller) currentSnapshot() *city.Snapshot { return c.snapshotAt(c.o.Log.Last()) }

func (c *Controller) snapshotAt(seq uint64) *city.Snapshot {
	s := *c.snap.Load()
	s.Patrol.Last = c.pulse.Last()
	s.Seq = seq
	return &s
}

// Snapshots implements city.Control.
func (c *Controller) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		defer c.pulse.Watch()()
		var rev uint64
		for {
			changed := c.change()
			if s := c.publishedSnapshot(ctx); s.Rev != rev {
				rev = s.Rev
				if !yield(s, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-c.done:
				yield(nil, hasEnded())
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

func (c *Controller) change() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *Controller) publish(before *city.Snapshot, now time.Time) {
	s := c.m.Snapshot(now)
	s.Path, s.Version = c.o.Dir, c.o.Version
	s.Host, s.Started, s.PID = before.Host, before.Started, before.PID
	s.Rev, s.Uncounted = before.Rev+1, c.uncounted.first()
	s.Patrol.Last = now
	c.inForce.Store(c.m.Configuration())
	c.snap.Store(s)
	c.unpublished.Store(false)
	c.mu.Lock()
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

func (c *Controller) publishEnd() { c.publish(c.snap.Load(), time.Now()) }

const deliverTime = 10 * time.Second

var errBusy = fmt.Errorf("the controller did not accept the command within %s; `gcity status` "+
	"shows how late its loop is", deliverTime)

// deliver sends a command even if ctx has ended, because the client may have disconnected while this process was
// suspended.
func (c *Controller) deliver(ctx context.Context, cmd effect.Command) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), deliverTime, errBusy)
	defer cancel()
	return c.send(ctx, cmd)
}

// Do implements city.Control. If ctx ends, the command still takes effect, but a run that has not started is canceled.
func (c *Controller) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	peer := city.PeerOf(ctx)
	cmd, err := city.Signed(cmd, peer)
	if err == nil {
		err = c.checkSender(cmd, peer)
	}
	if err == nil {
		cmd, err = city.Tidy(cmd)
	}
	if err == nil {
		err = c.confirm(ctx, cmd)
	}
	if err != nil {
		return city.Receipt{}, err
	}
	id := c.lastID.Add(1)
	reply := make(chan effect.Reply, 1)
	c.replies.Store(id, reply)
	defer c.replies.Delete(id)
	if err := c.deliver(ctx, effect.Command{ID: id, Cmd: cmd, Peer: peer}); err != nil {
		if errors.Is(err, perform.ErrEnded) {
			return city.Receipt{}, hasEnded()
		}
		return city.Receipt{}, city.Errorf(city.Unavailable, "%v", err)
	}
	select {
	case a := <-reply:
		return resultOf(a)
	case <-ctx.Done():
		if _, ok := cmd.(city.Fire); ok {
			// a failed send means that the controller has exited and dropped the request
			_ = c.send(context.WithoutCancel(ctx), effect.CommandAbandoned{ID: id})
			return city.Receipt{}, city.Errorf(city.Unavailable,
				"the run of %s did not start in time and was canceled: %v", cmd.Target(),
				context.Cause(ctx))
		}
		return city.Receipt{}, city.Errorf(city.Unavailable,
			"%s is in progress but did not complete in time: %v", cmd.Verb(), context.Cause(ctx))
	case <-c.done:
		select {
		case a := <-reply:
			return resultOf(a)
		default:
			return city.Receipt{}, hasEnded()
		}
	}
}

func hasEnded() *city.Error {
	return &city.Error{Code: city.Unavailable, Details: city.Ended,
		Message: perform.ErrEnded.Error()}
}

func resultOf(a effect.Reply) (city.Receipt, error) {
	if a.Err != nil {
		return city.Receipt{}, a.Err
	}
	return a.Receipt, nil
}

func (c *Controller) reply(a effect.Reply) {
	if reply, ok := c.replies.LoadAndDelete(a.ID); ok {
		reply.(chan effect.Reply) <- a
	}
}

// emptyInbox rejects the commands in the inbox and passes all other inputs to late.
func (c *Controller) emptyInbox(late func(effect.Input)) {
	for {
		select {
		case in := <-c.inbox:
			if cmd, ok := in.(effect.Command); ok {
				c.reply(effect.Reply{ID: cmd.ID, Err: hasEnded()})
			} else {
				late(in)
			}
		default:
			return
		}
	}
}

// History implements city.Control.
func (c *Controller) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return c.o.Log.Find(ctx, q)
}

// Events implements city.Control.
func (c *Controller) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return c.o.Log.Follow(ctx, after)
}

// Output implements city.Control. For an agent without a session, it returns the last output of the agent's
// previous session, or "" if that session did not crash, because only the output of crashes is stored.
func (c *Controller) Output(ctx context.Context, name string, lines int) (string, error) {
	a, err := c.agent(name)
	if err != nil {
		return "", err
	}
	if a.Session != nil {
		text, err := c.o.Provider.Output(ctx, a.Session.Name, lines)
		if !errors.Is(err, session.ErrNotFound) {
			return text, wrap(name, session.ForAgent(err, a.Session.Name, name))
		}
	}
	if x := a.Exit; x != nil && (x.Earlier || x.Code == 0 && x.Signal == "" && x.File == "") {
		return "", nil // the stored output is that of an earlier session
	}
	text, err := perform.LastOutput(c.o.Dir, name, lines)
	return text, wrap(name, err)
}

// Watch implements city.Control.
func (c *Controller) Watch(ctx context.Context, name string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		a, err := c.live(name)
		w, ok := c.o.Provider.(session.Watcher)
		if err == nil && !ok {
			err = wrap(name, session.ErrUnsupported)
		}
		if err != nil {
			yield(city.Frame{}, err)
			return
		}
		for f, err := range w.Watch(ctx, a.Session.Name) {
			err = session.ForAgent(err, a.Session.Name, name)
			if !yield(city.Frame(f), wrap(name, err)) {
				return
			}
		}
	}
}

// Attach implements city.Control.
func (c *Controller) Attach(ctx context.Context, name string, v city.Viewer) (city.Terminal,
	error) {
	a, err := c.live(name)
	if err != nil {
		return nil, err
	}
	p, ok := c.o.Provider.(session.Attacher)
	if !ok {
		return nil, wrap(name, session.ErrUnsupported)
	}
	t, err := p.Attach(ctx, a.Session.Name, v.Cols, v.Rows)
	if err != nil {
		return nil, wrap(name, session.ForAgent(err, a.Session.Name, name))
	}
	if v.Raw {
		return t, nil
	}
	var classes []string
	if force := c.inForce.Load(); force != nil && force.Source != nil {
		classes = force.Source.Session.Passthrough
	}
	return session.Filtered(t, classes)
}

func (c *Controller) agent(name string) (*city.Agent, error) {
	snap := c.snap.Load()
	a, ok := snap.Agent(name)
	if !ok {
		return nil, city.Missing(suggest.NotFound(suggest.Agent, name, snap.Names(suggest.Agent)))
	}
	return a, nil
}

func (c *Controller) live(name string) (*city.Agent, error) {
	a, err := c.agent(name)
	if err == nil && a.Session == nil {
		err = city.Errorf(city.Conflict, "agent %s has no session: the agent %s (%s)", name,
			a.State.Is(), a.Reason)
	}
	return a, err
}

func wrap(name string, err error) error {
	var known *city.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, session.ErrNotFound):
		return city.Errorf(city.Conflict, "agent %s currently has no session", name)
	case errors.Is(err, session.ErrRejected):
		return city.Errorf(city.Conflict, "agent %s: %v", name, err)
	}
	return city.Errorf(city.Unavailable, "agent %s: %v", name, err)
}
