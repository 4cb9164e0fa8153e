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
	"gcity/session/registry"
)

type entry struct {
	name   string
	lock   registry.NameLock // see Concurrency in the package comment
	typing chan struct{}     // contains a token while no call is typing

	mu         sync.Mutex
	known      bool
	rec        record
	exit       *ended        // valid if known is true; nil while the session is alive
	over       chan struct{} // closed when the field exit is set
	asked      bool          // a stop has been requested through this provider
	askedAt    time.Time     // when an earlier provider requested a stop; zero = never
	watch      *proc.Watched
	pane       pane
	views      viewers
	ownViewers int       // attached through this provider
	typed      time.Time // when a viewer of this provider last typed
	sent       time.Time
}

func newEntry(name string) *entry {
	e := &entry{name: name, lock: registry.NewNameLock(), typing: make(chan struct{}, 1)}
	e.typing <- struct{}{}
	return e
}

func (e *entry) take(ctx context.Context) (release func(), err error) {
	if release, err = e.lock.Lock(ctx); err != nil {
		err = fmt.Errorf("session %q is still busy with a start or a cleanup: %w", e.name, err)
	}
	return release, err
}

func (e *entry) life() (rec record, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rec, e.known && e.exit == nil
}

func (e *entry) alive() bool {
	_, ok := e.life()
	return ok
}

func (e *entry) begin(rec record, x *ended) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known && e.rec.ID == rec.ID {
		return
	}
	e.known, e.rec, e.exit, e.asked = true, rec, x, false
	e.pane, e.views = pane{}, viewers{}
	e.typed, e.sent, e.askedAt = time.Time{}, time.Time{}, time.Time{}
	e.over = make(chan struct{})
	if x != nil {
		close(e.over)
	}
}

// finish records the exit of the session with this ID. It returns false if the exit was already recorded, or if another
// session is the current one.
func (e *entry) finish(id string, x *ended) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.rec.ID != id || e.exit != nil {
		return false
	}
	e.exit = x
	close(e.over)
	e.unwatch()
	return true
}

// unwatch closes the watch of the agent's process. The caller must hold e.mu.
func (e *entry) unwatch() {
	if e.watch != nil {
		e.watch.Close()
		e.watch = nil
	}
}

func (r *record) target() string { return "=" + mangle(r.Name) + ":." + r.Pane }

// mangle replaces special characters with their codes, because tmux expands # and replaces dots and colons.
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

func (e *entry) status() (st session.Status, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil && e.exit.Acked {
		return st, false
	}
	now := time.Now()
	st = session.Status{
		Name: e.name, Agent: e.rec.Agent, City: e.rec.City, ID: e.rec.ID,
		Alive: e.exit == nil, PID: e.rec.PID, Started: time.Unix(0, e.rec.Born),
		Fingerprint: e.rec.Fingerprint,
		Activity:    latest(now, time.Unix(0, e.rec.Born), e.pane.activity, e.sent, e.typed),
	}
	if e.exit != nil {
		st.Exit = new(e.exit.Exit)
		return st, true
	}
	stat, err := proc.ReadStat(e.rec.PID)
	st.Frozen = err == nil && stat.Start == e.rec.Start && stat.State == 'T'
	st.Ready = e.rec.Ready || e.pane.marks[session.ReadyMark] == "1"
	st.Drain = session.ParseDrain(func(key string) string { return e.pane.marks[key] })
	st.Attached = e.views.count
	st.TypedAt = latest(now, e.typed, e.views.typed)
	return st, true
}

// latest ignores wall-clock times in the future, because they were read before the wall clock was set back.
func latest(now time.Time, times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) && !t.After(now.Round(0)) {
			last = t
		}
	}
	return last
}
