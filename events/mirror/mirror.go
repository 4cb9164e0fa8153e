// Package mirror sends every event to a city's event script (`exec:<script>`). The log of package events remains
// authoritative: an event is in the log before it is sent, and a script can neither assign a seq nor delay the city.
// The script gets the events in order, one at a time. The position is saved after each event. After a crash, an event
// can therefore be sent again with the same seq. The number of waiting events is limited. If a script falls too far
// behind, it gets an events.gap event in place of the events that it misses.
//
// # Concurrency
//
// Run uses its caller's goroutine and starts no others.
package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/events"
	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/shell"
	"gcity/internal/shutdown"
)

const (
	// CallLimit is the timeout for one call to the script.
	CallLimit = 30 * time.Second
	// MaxBehind is the maximum number of events that wait for the script. If more wait, the script misses the oldest.
	MaxBehind        = 10_000
	failing          = 3 // consecutive failures before a Failing event
	minWait, maxWait = time.Second, time.Minute
	// finishLimit is how long Run may continue after its context has ended.
	finishLimit = 5 * time.Second
)

// Types of events about the mirror itself.
const (
	Failing = "events.mirror_failing"
	Healed  = "events.mirror_healed"
)

// Log is the event log that a mirror reads.
type Log interface {
	Last() uint64
	Follow(ctx context.Context, after uint64) iter.Seq2[events.Event, error]
	Append(batch ...events.Event) (last uint64, err error)
}

// Options configures the mirror of one script.
type Options struct {
	Script string // path, or a name to look up in PATH
	Dir    string
	Env    []string // additional environment variables
	State  string   // the city's .gc folder; the position is saved there
	Log    Log
	Logger *slog.Logger
	// MayRun returns an error if the script must not be called. It may be nil.
	MayRun func(context.Context) error
	// Last is the shutdown deadline of the whole program, or nil. Run reports unsent events with Last.GiveUp.
	Last *shutdown.Deadline
}

// Place is a script's position in the log.
type Place struct {
	Script string `json:"script"`
	// seq of the last event that the script accepted
	Seq uint64 `json:"seq"`
	// when the current failure began; zero = the script works
	Since  time.Time `json:"since,omitzero"`
	Why    string    `json:"why,omitempty"`
	Missed uint64    `json:"missed,omitzero"` // number of events that the script has missed
}

const fileName = "events-mirror.json"

// Load reads the position of a city's script from the city's .gc folder. It returns the zero Place if no script has
// received any event yet.
func Load(dir string) (Place, error) {
	var p Place
	data, err := disk.ReadFile(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return Place{}, fmt.Errorf("cannot read the event script's position in the log: %w", err)
	}
	return p, nil
}

// Newest returns the highest seq that the script has received. If the script cannot say, the error is
// errors.ErrUnsupported.
func Newest(ctx context.Context, o Options) (uint64, error) {
	out, err := o.call(ctx, nil, "latest-seq")
	if err != nil {
		return 0, err
	}
	var n uint64
	if err := json.Unmarshal(out, &n); err != nil {
		return 0, fmt.Errorf("the event script must print a number for latest-seq, but "+
			"printed %.60q", out)
	}
	return n, nil
}

func (o *Options) call(ctx context.Context, stdin []byte, op string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	if o.MayRun != nil {
		if err := o.MayRun(ctx); err != nil {
			return nil, fmt.Errorf("cannot run the event script: %w", err)
		}
	}
	env := shell.ScriptEnv(os.Environ(), o.Env...)
	got, err := shell.Call(ctx, shell.Program{Path: o.Script, Args: []string{op}, Dir: o.Dir,
		Env: env, Stdin: stdin, MaxStdout: 1 << 20})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the event script's %q operation failed: %w", op, err)
	case got.Code == 2:
		return nil, fmt.Errorf("the event script does not support the operation %s: %w", op,
			errors.ErrUnsupported)
	case got.Code != 0:
		why := strings.Join(strings.Fields(got.Stderr), " ")
		if why == "" {
			why = "it printed nothing"
		}
		return nil, fmt.Errorf("the event script's %q operation failed (exit code %d): %.300s", op,
			got.Code,
			why)
	}
	return got.Stdout, nil
}

// Run sends events to the script until ctx ends. After ctx has ended, it sends the remaining events within a time
// limit.
func Run(ctx context.Context, o Options) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishLimit, cancel) })()
	if o.Last != nil {
		defer context.AfterFunc(o.Last.Context(), cancel)()
	}
	m := &mirror{o: o, calls: calls}
	var err error
	if m.at, err = Load(o.State); err != nil {
		o.Logger.Warn("sending all events to the event script again", "error", err)
	}
	if m.at.Script != o.Script || m.at.Seq > o.Log.Last() { // the script or the log was replaced
		m.at = Place{Script: o.Script}
	}
	m.follow(ctx)
	if m.fails == 0 {
		m.until = o.Log.Last()
		m.follow(calls)
	}
	if behind := o.Log.Last() - m.at.Seq; behind > 0 && o.Last != nil && calls.Err() != nil {
		what := "the newest event"
		if behind > 1 {
			what = fmt.Sprintf("the newest %d events", behind)
		}
		o.Last.GiveUp("sending %s to the event script; the next controller will do this",
			what)
	}
}

type mirror struct {
	o     Options
	calls context.Context // ends finishLimit after Run's context
	at    Place
	// seq of the last event to send before Run ends; 0 = not known yet
	until uint64
	fails int
}

func (m *mirror) follow(ctx context.Context) {
	for ctx.Err() == nil && (m.until == 0 || m.at.Seq < m.until) {
		if last := m.o.Log.Last(); last > m.at.Seq+MaxBehind && !m.miss(ctx, last-MaxBehind) {
			return
		}
		for e, err := range m.o.Log.Follow(ctx, m.at.Seq) {
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, events.ErrClosed) {
					m.o.Logger.Warn("cannot send events to the event script, because the log "+
						"cannot be read",
						"error", err)
				}
				if m.until != 0 || !deadline.Pause(ctx, minWait) {
					return
				}
				break
			}
			if e.Seq > m.at.Seq+1 && !m.miss(ctx, e.Seq-1) {
				return
			}
			accepted := m.send(ctx, e)
			if !accepted && m.until != 0 {
				return
			}
			if !accepted || m.o.Log.Last() > m.at.Seq+MaxBehind || e.Seq == m.until {
				break
			}
		}
	}
}

func (m *mirror) miss(ctx context.Context, to uint64) bool {
	n := to - m.at.Seq
	payload, err := json.Marshal(map[string]uint64{"from": m.at.Seq + 1, "to": to, "count": n})
	if err != nil {
		payload = nil // cannot fail for numbers
	}
	accepted := m.send(ctx, events.Event{
		Seq: to, TS: time.Now().UTC(), Type: events.Gap, Actor: "controller", Payload: payload,
		Message: fmt.Sprintf("%d events were skipped; the city's log might contain them", n),
	})
	if accepted {
		m.at.Missed += n
	}
	return accepted
}

// send sends an event to the script, with retries, and reports whether the script has accepted it. The end of ctx does
// not interrupt a call, because only the call's result shows the script's position.
func (m *mirror) send(ctx context.Context, e events.Event) bool {
	text, err := json.Marshal(e)
	if err != nil { // cannot fail, because the event was decoded from JSON
		text = []byte("{}")
	}
	for wait := minWait; ctx.Err() == nil; wait = min(2*wait, maxWait) {
		_, err := m.o.call(m.calls, text, "record")
		if err == nil {
			m.taken(e.Seq)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		m.failed(err)
		if m.until != 0 || !deadline.Pause(ctx, wait) || e.Type != events.Gap &&
			m.o.Log.Last() > e.Seq+MaxBehind {
			return false
		}
	}
	return false
}

func (m *mirror) taken(seq uint64) {
	if m.fails >= failing {
		m.say(Healed, fmt.Sprintf("the event script accepts events again; the last delayed "+
			"event is %d", m.o.Log.Last()))
	}
	m.fails, m.at.Since, m.at.Why = 0, time.Time{}, ""
	m.at.Seq = seq
	m.save()
}

func (m *mirror) failed(err error) {
	if m.fails++; m.fails == 1 {
		m.at.Since = time.Now().UTC()
	}
	m.at.Why = err.Error()
	m.save()
	if m.fails == failing {
		m.say(Failing, err.Error())
	}
}

func (m *mirror) say(kind, message string) {
	m.o.Logger.Warn(message)
	if _, err := m.o.Log.Append(events.Event{Type: kind, Actor: "controller", Subject: m.o.Script,
		Message: message}); err != nil && !errors.Is(err, events.ErrQueued) {
		m.o.Logger.Warn("cannot write the event about the event script", "error", err)
	}
}

func (m *mirror) save() {
	data, err := json.Marshal(m.at)
	if err == nil {
		err = disk.Replace(filepath.Join(m.o.State, fileName), data, 0o600)
	}
	if err != nil {
		m.o.Logger.Warn("cannot save the event script's position in the log; some events may "+
			"be sent twice", "error", err)
	}
}
