package tui

import (
	"context"
	"iter"
	"testing"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// ill is a city with one method that panics.
type ill struct {
	*fakeCity
	where string
}

func (i ill) ache(where string) {
	if i.where == where {
		panic("simulated panic in " + where)
	}
}

func (i ill) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	i.ache("snapshots")
	return i.fakeCity.Snapshots(ctx)
}

func (i ill) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	i.ache("events")
	return i.fakeCity.Events(ctx, after)
}

func (i ill) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	if agent == "builder" { // the first agent is watched before the list is visible
		i.ache("watch")
	}
	return i.fakeCity.Watch(ctx, agent)
}

func (i ill) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	i.ache("beads")
	return i.fakeCity.Beads(ctx, q)
}

func (i ill) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	i.ache("attach")
	return i.fakeCity.Attach(ctx, agent, v)
}

// Whichever method of the city panics, the terminal is restored, and the room says where the panic occurred.
func TestTerminalPanicInTheCity(t *testing.T) {
	for _, c := range []struct{ where, keys, want string }{
		{"snapshots", "", "snapshots: simulated panic"},
		{"events", "", "events: simulated panic"},
		{"watch", "jjjjjj", "pane: simulated panic"},
		{"beads", "b", "work: simulated panic"},
		{"attach", "jjjjjja", "attach: simulated panic"},
	} {
		t.Run(c.where, func(t *testing.T) {
			t.Parallel()
			room := open(t, "hosting ill-"+c.where, 100, 30)
			if c.keys != "" {
				room.sees("prober")
				room.keys(c.keys)
			}
			room.ends("ended the control room panicked in " + c.want)
		})
	}
}

// mute is a city that never responds.
type mute struct{ *fakeCity }

func (mute) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (mute) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// The first frame does not wait for the city.
func TestTerminalOfACityThatDoesNotRespond(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "joined mute", 100, 30)
	c.sees("1 Agents")
	c.resize(80, 24)
	c.keys("?")
	c.sees("Help")
	c.keys("\x1b")
	c.misses("Help")
	c.insist("q", "exit: ") // directly after an esc that has not been read, q would be alt+q
	c.ends("leave")
}
