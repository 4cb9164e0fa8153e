package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/proc"
	"gcity/session"
)

// peerLimit is the timeout for finding out which agent sends a command.
const peerLimit = 5 * time.Second

// Do implements city.Control for commands that work without a controller.
func (b *City) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	c, err := city.Tidy(c)
	if err != nil {
		return city.Receipt{}, err
	}
	if b.held != nil && b.held.Replaced {
		return city.Receipt{}, b.noController(c)
	}
	if emit, ok := c.(city.Emit); ok {
		return b.emit(emit)
	}
	ctx = withPeer(ctx, sync.OnceValue(func() []session.Status {
		look, cancel := context.WithTimeout(ctx, peerLimit)
		defer cancel()
		all, _, _ := b.listAvailable(look) // if this fails, the environment might name the agent
		return all
	}))
	if c, err = city.Signed(c, city.PeerOf(ctx)); err != nil {
		return city.Receipt{}, err
	}
	switch c := c.(type) {
	case city.Suspend, city.Stop:
		return b.suspend(ctx, c.Target(), true)
	case city.Resume:
		return b.suspend(ctx, c.Agent, false)
	case city.SuspendRig:
		return b.setSuspended(ctx, SuspendableRig(c.Rig), true)
	case city.ResumeRig:
		return b.setSuspended(ctx, SuspendableRig(c.Rig), false)
	case city.Scale:
		if b.invalid != nil {
			return city.Receipt{}, b.invalid
		}
		return b.scale(ctx, c, folder.PoolPlan(b.config, b.Dir))
	case city.Drain, city.Undrain, city.DrainAck:
		return b.setDrain(ctx, c)
	case city.CreateBead, city.UpdateBead, city.SlingWork:
		return b.doWork(ctx, c)
	case city.Kill, city.Interrupt, city.Clear, city.Nudge, city.SendKeys:
		return b.toSession(ctx, c)
	}
	return city.Receipt{}, b.noController(c)
}

func (b *City) noController(c city.Command) error {
	return folder.NoController(b.Dir, "cannot "+strings.ReplaceAll(c.Verb(), "-", " "), b.held)
}

func (b *City) emit(c city.Emit) (city.Receipt, error) {
	signed, err := city.Signed(c, city.Peer{Actor: c.Event.Actor,
		From: fmt.Sprintf("pid %d", os.Getpid())})
	if err != nil {
		return city.Receipt{}, err
	}
	e := signed.(city.Emit).Event
	seq, err := folder.AppendEventIn(b.Dir, e, city.RoomOf(&e))
	return city.Receipt{Seq: seq, Message: "emitted " + e.Type}, err
}

// withPeer returns a context with this process as the peer. It identifies the process as a controller would: by the
// session that the process runs in, or else by its environment. It calls list only if the process might run in a
// session, because a provider can be slow.
func withPeer(ctx context.Context, list func() []session.Status) context.Context {
	name, isAgent := proc.Actor(os.Getpid(), func(id string) string {
		for _, st := range list() {
			if st.Alive && st.ID == id {
				return st.Agent
			}
		}
		return ""
	})
	return city.WithPeer(ctx, city.Peer{Actor: name, From: fmt.Sprintf("pid %d", os.Getpid()),
		Agent: isAgent})
}

func (b *City) toSession(ctx context.Context, c city.Command) (city.Receipt, error) {
	st, err := b.Session(ctx, c.Target())
	if err != nil {
		return city.Receipt{}, err
	}
	done := c.Verb() + ": done"
	switch c := c.(type) {
	case city.Kill:
		err = b.Sessions.Stop(session.WithForce(ctx, c.Force), st.Name, 0)
		done = "killed " + c.Agent + "; no controller is running to restart it"
		if err == nil {
			err = b.recordExits(ctx, func(agent string) bool { return agent == c.Agent })
		}
	case city.Interrupt:
		err, done = b.Sessions.Interrupt(ctx, st.Name), "agent "+c.Agent+" was interrupted"
	case city.Nudge:
		err, done = b.sendText(ctx, st.Name, c), "agent "+c.Agent+" accepted the nudge"
		if err == nil {
			err = b.recordNudge(ctx, c)
		}
	case city.SendKeys:
		k, ok := b.Sessions.(session.Keyer)
		if !ok {
			return city.Receipt{}, Cannot("press keys in", c.Agent)
		}
		err, done = k.SendKeys(ctx, st.Name, c.Keys...), "agent "+c.Agent+" accepted the keys"
	case city.Clear:
		k, ok := b.Sessions.(session.Clearer)
		if !ok {
			return city.Receipt{}, Cannot("clear the output of", c.Agent)
		}
		err, done = k.Clear(ctx, st.Name), "the saved output of agent "+c.Agent+" was cleared"
	}
	return city.Receipt{Message: done}, AsProblem(session.ForAgent(err, st.Name, st.Agent))
}

func (b *City) recordNudge(ctx context.Context, n city.Nudge) error {
	about, err := json.Marshal(struct {
		Bytes int `json:"bytes"`
		Depth int `json:"depth,omitempty"` // see automation.Depth
	}{len(n.Text), n.Depth})
	if err != nil {
		return err
	}
	_, err = b.record(ctx, events.Event{Type: events.AgentNudged, Subject: n.Agent, Payload: about},
		"a nudge was typed and submitted; no controller was running")
	return err
}

func everyone(string) bool { return true }

// End stops the live sessions of the selected agents, and returns the number of these sessions.
func (b *City) End(ctx context.Context, isSelected func(agent string) bool) (int, error) {
	done := b.reportSlow(ctx, "the list of sessions", sessions.EndLimit)
	look, cancel := context.WithTimeout(ctx, sessions.EndLimit)
	defer cancel()
	all, unknown, err := b.listAll(look)
	done()
	if err != nil {
		return 0, err
	}
	ctx = withPeer(ctx, func() []session.Status { return all })
	var alive []session.Status
	var names []string
	for _, st := range all {
		if st.Alive && isSelected(st.Agent) {
			alive, names = append(alive, st), append(names, st.Agent)
		}
	}
	done = b.reportSlow(ctx, output.ShortList(names)+" to stop", b.grace()+sessions.EndLimit)
	err = sessions.EndSessions(ctx, b.Sessions, alive, b.grace())
	done()
	if err = errors.Join(err, unknown); unknown != nil {
		return len(alive), err
	}
	return len(alive), errors.Join(err, b.recordExits(ctx, isSelected))
}

func (b *City) reportSlow(ctx context.Context, what string, most time.Duration) (done func()) {
	if b.slow == nil {
		return func() {}
	}
	return b.slow(ctx, what, most)
}

func (b *City) recordExits(ctx context.Context, of func(agent string) bool) error {
	all, err := b.list(ctx)
	if err != nil {
		return err
	}
	ack, ok := b.Sessions.(session.Acknowledger)
	if !ok {
		return nil
	}
	all = slices.DeleteFunc(all, func(st session.Status) bool {
		return st.Alive || st.Exit == nil || !of(st.Agent)
	})
	if len(all) == 0 {
		return nil
	}
	newest, err := folder.ReadEvents(ctx, b.Dir, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		return err
	}
	recorded := effect.RecordedEnds(newest)
	for _, st := range all {
		if err := b.recordExit(ctx, &st, recorded[st.ID]); err != nil {
			return err
		}
		if err := ack.Acknowledge(ctx, st.Name, st.ID); err != nil &&
			!errors.Is(err, session.ErrNotFound) {
			return fmt.Errorf("cannot release the holder of %q: %w", st.Agent, err)
		}
	}
	return nil
}

func (b *City) recordExit(ctx context.Context, st *session.Status, recorded bool) error {
	if recorded {
		return nil
	}
	e := events.Event{Type: events.AgentStopped, Actor: city.PeerOf(ctx).Name(), Subject: st.Agent,
		Message: "stopped; no controller was running"}
	if !st.Exit.Asked {
		e.Type, e.Actor = events.AgentCrashed, effect.ActorOperator
		e.Message = "exited while no controller was running: " +
			output.ExitText(st.Exit.Code, st.Exit.Signal)
		if st.Exit.Code == 0 {
			e.Type = events.AgentStopped
		}
	}
	about, err := json.Marshal(map[string]any{"session": st.ID, "code": st.Exit.Code})
	if err != nil {
		return err
	}
	e.Payload = about
	if _, err := folder.AppendEvent(b.Dir, e); err != nil {
		return fmt.Errorf("cannot record the exit of %q: %w", st.Agent, err)
	}
	return nil
}

func (b *City) grace() time.Duration {
	if b.config == nil {
		return 5 * time.Second
	}
	return b.config.Daemon.ShutdownTimeout
}

// typingPause is how long a terminal must have been without input before text is sent to it.
const typingPause = 2 * time.Second

// sendText sends text to a session. Unless c.Now is set, it fails if the provider reports that a user is typing,
// because only a controller can queue text.
func (b *City) sendText(ctx context.Context, name string, c city.Nudge) error {
	p, ok := b.Sessions.(session.PoliteSender)
	if !ok || c.Now {
		return b.Sessions.Send(ctx, name, c.Text)
	}
	err := p.SendPolitely(ctx, name, c.Text, typingPause)
	if errors.Is(err, session.ErrBusy) {
		return city.Errorf(city.Conflict, "a user is typing into agent %s, or has left a draft "+
			"on its input line, and no controller is running to queue the nudge; --now types the "+
			"text anyway", c.Agent)
	}
	return err
}
