package controller

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/session"
)

// NewestEvents is how many events from the end of the log are read to learn what a controller recorded before it
// ended.
const NewestEvents = events.MaxLimit

// RecordedEnds returns the ids of the sessions whose end is recorded by one of some events.
func RecordedEnds(newest []events.Event) map[string]bool {
	recorded := map[string]bool{}
	for i := range newest {
		if id := endedSession(&newest[i]); id != "" {
			recorded[id] = true
		}
	}
	return recorded
}

// endedSession returns the id of the session whose end an event records; "" = it records none.
func endedSession(e *events.Event) string {
	switch e.Type {
	case events.AgentCrashed, events.AgentStopped, events.AgentSuspended:
		var about struct{ Session string }
		if json.Unmarshal(e.Payload, &about) == nil {
			return about.Session
		}
	}
	return ""
}

// inherit finds which ends a predecessor recorded, and with the first look which it did not. It returns nil for a
// look that can show no session of a predecessor for the first time.
func (r *runner) inherit(ctx context.Context, f effect.List) *effect.Inherited {
	if !f.Inherit {
		return nil
	}
	in := &effect.Inherited{}
	if f.First {
		in.Ends = r.readEnds()
	}
	newest, err := r.c.o.Log.Find(ctx, events.Query{Limit: NewestEvents})
	if err != nil {
		r.c.o.Logger.Warn("cannot tell which ends of sessions are recorded; some may be "+
			"recorded twice", "err", err)
	}
	in.Recorded = RecordedEnds(newest)
	return in
}

// endsDir, in the city's .gc folder, keeps unrecorded ends, a file each.
const endsDir = "ends"

func (r *runner) endFile(id string) string {
	return filepath.Join(r.c.o.Dir, ".gc", endsDir, session.Encode(id)+".json")
}

// keepEnds writes the ends that a start would make the session provider forget.
func (r *runner) keepEnds(ends []effect.UnrecordedEnd) {
	for _, e := range ends {
		path := r.endFile(e.Exit.ID)
		data, err := json.Marshal(e)
		if err = errors.Join(err, disk.MkdirAll(filepath.Dir(path), 0o700)); err == nil {
			err = disk.Replace(path, data, 0o600)
		}
		if err != nil {
			r.c.o.Logger.Warn("the end of a session is lost if this controller is killed now",
				"agent", e.Exit.Agent, "err", err)
		}
	}
}

// readEnds returns the ends that a predecessor kept. A file that cannot be used is removed.
func (r *runner) readEnds() (ends []effect.UnrecordedEnd) {
	dir := filepath.Join(r.c.o.Dir, ".gc", endsDir)
	files, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.c.o.Logger.Warn("ends of sessions that were not recorded cannot be read", "err", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		var e effect.UnrecordedEnd
		data, err := disk.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil && e.Exit.ID == "" {
			err = errors.New("it names no session")
		}
		if err != nil {
			r.c.o.Logger.Warn("the kept end of a session cannot be used and is removed", "file",
				f.Name(), "err", err)
			_ = disk.Remove(filepath.Join(dir, f.Name())) // else the next controller says so again
			continue
		}
		ends = append(ends, e)
	}
	return ends
}

// forgetEnd removes the file of an end that is recorded.
func (r *runner) forgetEnd(id string) {
	if err := disk.Remove(r.endFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.c.o.Logger.Warn("the kept end of a session cannot be removed", "err", err)
	}
}

// unrecorded returns the ends of an agent's lives whose events wait in the queue.
func (m *machine) unrecorded(a *record) (ends []effect.UnrecordedEnd) {
	for i := range m.queue {
		if q := &m.queue[i]; q.agent == a && q.end != nil {
			ends = append(ends, effect.UnrecordedEnd{Exit: *q.end, Event: q.Event})
		}
	}
	return ends
}

// begin orders a start, which keeps the ends that are not recorded yet.
func (m *machine) begin(a *record) {
	f := a.outfit()
	f.Ends = m.unrecorded(a)
	a.endFiles = len(f.Ends) > 0
	m.do(f)
}

// inheritEnds records what the predecessor could not. Ends that a look shows too are left to it.
func (m *machine) inheritEnds(now time.Time, in *effect.Inherited, listed []session.Status) {
	shown := map[string]bool{}
	for i := range listed {
		shown[listed[i].ID] = true
	}
	for _, e := range in.Ends {
		id := e.Exit.ID
		ack := effect.Acknowledge{Agent: e.Exit.Agent, Session: e.Exit.Name, ID: id}
		a := m.agents[e.Exit.Agent]
		switch {
		case shown[id]:
		case in.Recorded[id]:
			m.do(ack)
		case a == nil: // it is not declared any more
			m.do(effect.Record{Event: e.Event})
			m.do(ack)
		default:
			m.decided(now, a, "record", "the controller before could not: "+e.Event.Message)
			m.inheritEnd(now, a, e)
			m.past[id] = true
			a.acks = append(a.acks, ack)
		}
	}
}

// inheritEnd counts and records the end of an earlier life of an agent.
func (m *machine) inheritEnd(now time.Time, a *record, e effect.UnrecordedEnd) {
	if e.Event.Type != events.AgentCrashed || a.want == nil {
		m.inOrder(queuedRecord{Record: effect.Record{Event: e.Event}, agent: a})
		return
	}
	if !a.called() {
		a.history.Died(now, deathOf(&e.Exit), a.want.Policy)
	}
	m.tellCrash(now, a, e.Exit, e.Event)
}
