package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/internal/proc"
	"gcity/session"
)

// entry is what the provider knows about one name.
type entry struct {
	name   string
	turn   chan struct{} // holds a token: see Concurrency
	typing chan struct{} // holds a token: its holder may type

	mu    sync.Mutex
	known bool // rec is set
	rec   record
	exit  *ended        // nil: alive, if known
	over  chan struct{} // closed when exit is set
	asked bool
	watch *proc.Watched
	pane  pane      // as last seen
	views viewers   // as last seen
	own   int       // viewers attached through this provider
	typed time.Time // by a viewer of this provider
	sent  time.Time
}

func newEntry(name string) *entry {
	e := &entry{name: name, turn: make(chan struct{}, 1), typing: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	e.typing <- struct{}{}
	return e
}

// take waits for the turn of the name.
func (e *entry) take(ctx context.Context) (release func(), err error) {
	select {
	case <-e.turn:
		return func() { e.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("session %q is still busy with a start or a cleanup: %w", e.name,
			context.Cause(ctx))
	}
}

// life returns the record of the current life, if it is not known to be over.
func (e *entry) life() (rec record, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rec, e.known && e.exit == nil
}

func (e *entry) alive() bool {
	_, ok := e.life()
	return ok
}

// begin adopts a recorded life, and its exit if it has ended.
func (e *entry) begin(rec record, x *ended) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known && e.rec.ID == rec.ID {
		return
	}
	e.known, e.rec, e.exit, e.asked = true, rec, x, false
	e.pane, e.views, e.typed, e.sent = pane{}, viewers{}, time.Time{}, time.Time{}
	e.over = make(chan struct{})
	if x != nil {
		close(e.over)
	}
}

// finish records the end of a life. It reports whether the end was not known before.
func (e *entry) finish(id string, x *ended) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.rec.ID != id || e.exit != nil {
		return false
	}
	e.exit = x
	close(e.over)
	if e.watch != nil {
		e.watch.Close()
		e.watch = nil
	}
	return true
}

// unwatch stops waiting for the agent's exit.
func (e *entry) unwatch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watch != nil {
		e.watch.Close()
		e.watch = nil
	}
}

// target addresses exactly the pane of a life: the session by its full name and the pane by its ID.
func (r *record) target() string { return "=" + mangle(r.Name) + ":." + r.Pane }

// mangle converts a session's name to one that tmux accepts unchanged. tmux expands # and replaces dots and colons,
// so every other special character is written as its number.
func mangle(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
			c == '-' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "+%02X", c)
		}
	}
	return b.String()
}

// unmangle is the inverse of mangle. It is not ok for a name that mangle cannot produce.
func unmangle(s string) (name string, ok bool) {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '+' {
			b = append(b, s[i])
			continue
		}
		if i+3 > len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b = append(b, byte(c))
		i += 2
	}
	return string(b), mangle(string(b)) == s
}

// status returns the session as List reports it. It is not ok if there is nothing to report.
func (e *entry) status() (st session.Status, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil && e.exit.Acked {
		return st, false
	}
	st = session.Status{
		Name: e.name, Agent: e.rec.Agent, City: e.rec.City, ID: e.rec.ID,
		Alive: e.exit == nil, PID: e.rec.PID, Started: time.Unix(0, e.rec.Born),
		Fingerprint: e.rec.Fingerprint,
		Activity:    latest(time.Unix(0, e.rec.Born), e.pane.activity, e.sent, e.typed),
	}
	if e.exit != nil {
		x := e.exit.Exit
		st.Exit = &x
		return st, true
	}
	stat, err := proc.ReadStat(e.rec.PID)
	st.Frozen = err == nil && stat.Start == e.rec.Start && stat.State == 'T'
	st.Ready = e.rec.Ready || e.pane.marks[session.ReadyMark] == "1"
	st.Drain = session.ParseDrain(func(key string) string { return e.pane.marks[key] })
	st.Attached = e.views.count
	st.TypedAt = latest(e.typed, e.views.typed)
	return st, true
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
