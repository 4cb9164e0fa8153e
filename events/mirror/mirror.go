// Package mirror tells a script of the city's (`exec:<script>`) of every event. The log of package events stays
// what counts: an event is in it before anybody hears of it, the script included, and no script can give a seq or
// hold up the city. The script is told of one event after the other, in their order, each at least once: where it
// has come to is written down after each, and what a crash hides of that is told again, with the same seq. What
// waits is bounded: a script that falls too far behind is told of the events that it misses by an events.gap in
// their place.
//
// # Concurrency
//
// Run belongs to one goroutine of its caller's and starts none of its own.
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
	"gcity/internal/disk"
	"gcity/internal/shell"
	"gcity/internal/shutdown"
)

const (
	// CallLimit is how long one call of the script may take.
	CallLimit = 30 * time.Second
	// MaxBehind is how many events wait at most for a script that does not take them; of more, only the newest do.
	MaxBehind = 10_000
	// failing is how many calls in a row have to fail until that is an event.
	failing = 3
	// What has failed is tried again after minWait, and then after twice as long each time, up to maxWait.
	minWait, maxWait = time.Second, time.Minute
	// lastWords is how long the script may take when Run is to end, for the call that is under way and for the
	// events of the city's end together.
	lastWords = 5 * time.Second
)

// The events about the mirror itself.
const (
	Failing = "events.mirror_failing"
	Healed  = "events.mirror_healed"
)

// Log is what is mirrored.
type Log interface {
	Last() uint64
	Follow(ctx context.Context, after uint64) iter.Seq2[events.Event, error]
	Append(batch ...events.Event) (last uint64, err error)
}

// Options say which script, and what it is told of.
type Options struct {
	Script string   // a path, or a name to be looked for in the PATH
	Dir    string   // where it runs
	Env    []string // what gcity sets in its environment
	State  string   // folder in which is written down how far it has come
	Log    Log
	Logger *slog.Logger
	// Environ is the environment of this process, nil = os.Environ(). shell.ScriptEnv says what of it the script gets.
	Environ []string
	// within which Run ends once ctx has ended; nil: it has lastWords for itself
	Last *shutdown.Deadline
}

// Place is how far a script has come.
type Place struct {
	Script string    `json:"script"`
	Seq    uint64    `json:"seq"`             // of the newest event that it has taken
	Since  time.Time `json:"since,omitzero"`  // it fails, zero if it does not
	Why    string    `json:"why,omitempty"`   // it fails
	Missed uint64    `json:"missed,omitzero"` // events that it was not told of
}

const fileName = "events-mirror.json"

// Load reads from a city's .gc folder how far its script has come; the zero Place if it has never been told of
// anything.
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
		return Place{}, fmt.Errorf("cannot read how far the events' script has come: %w", err)
	}
	return p, nil
}

// Newest asks a script for the newest seq that it has (latest-seq). A script that does not know the question is
// errors.ErrUnsupported.
func Newest(ctx context.Context, o Options) (uint64, error) {
	out, err := o.call(ctx, nil, "latest-seq")
	if err != nil {
		return 0, err
	}
	var n uint64
	if err := json.Unmarshal(out, &n); err != nil {
		return 0, fmt.Errorf("the events' script is to print a number at latest-seq, and "+
			"printed %.60q", out)
	}
	return n, nil
}

func (o *Options) call(ctx context.Context, stdin []byte, op string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	env := shell.ScriptEnv(environ, o.Env...)
	got, err := shell.Call(ctx, shell.Program{Path: o.Script, Args: []string{op}, Dir: o.Dir,
		Env: env, Stdin: stdin, Most: 1 << 20})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the events' script: %s: %w", op, err)
	case got.Code == 2:
		return nil, fmt.Errorf("the events' script does not know the operation %s: %w", op,
			errors.ErrUnsupported)
	case got.Code != 0:
		why := strings.Join(strings.Fields(got.Stderr), " ")
		if why == "" {
			why = "it said nothing"
		}
		return nil, fmt.Errorf("the events' script failed at %s (exit %d): %.300s", op, got.Code,
			why)
	}
	return got.Stdout, nil
}

// Run tells the script until ctx ends, and then for a moment of what is still there. What goes wrong is an event,
// is logged, and tried again, but not at the end.
func Run(ctx context.Context, o Options) {
	words, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	if o.Last != nil {
		defer context.AfterFunc(o.Last.Context(), cancel)()
	}
	m := &mirror{o: o, words: words}
	var err error
	if m.at, err = Load(o.State); err != nil {
		o.Logger.Warn("the events' script is told of everything again", "error", err)
	}
	if m.at.Script != o.Script || m.at.Seq > o.Log.Last() { // another script, or another log
		m.at = Place{Script: o.Script}
	}
	m.follow(ctx)
	if m.fails == 0 {
		m.until = o.Log.Last()
		m.follow(words)
	}
	if behind := o.Log.Last() - m.at.Seq; behind > 0 && o.Last != nil && words.Err() != nil {
		what := "the newest event"
		if behind > 1 {
			what = fmt.Sprintf("the newest %d events", behind)
		}
		o.Last.GiveUp("telling the events' script of %s, which the next controller does", what)
	}
}

// mirror is one run.
type mirror struct {
	o     Options
	words context.Context // of the calls; it ends lastWords after Run's
	at    Place
	// the newest event that is of interest, and what fails is not tried again; 0 = there is always a next one
	until uint64
	fails int // in a row
}

func (m *mirror) follow(ctx context.Context) {
	for ctx.Err() == nil && (m.until == 0 || m.at.Seq < m.until) {
		if last := m.o.Log.Last(); last > m.at.Seq+MaxBehind && !m.miss(ctx, last-MaxBehind) {
			return
		}
		for e, err := range m.o.Log.Follow(ctx, m.at.Seq) {
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, events.ErrClosed) {
					m.o.Logger.Warn("the events' script has to wait: the log cannot be read",
						"error", err)
				}
				if m.until != 0 || !pause(ctx, minWait) {
					return
				}
				break
			}
			if e.Seq > m.at.Seq+1 && !m.miss(ctx, e.Seq-1) {
				return
			}
			told := m.tell(ctx, e)
			if !told && m.until != 0 {
				return
			}
			if !told || m.o.Log.Last() > m.at.Seq+MaxBehind || e.Seq == m.until {
				break
			}
		}
	}
}

// miss tells the script in one event of those up to a seq that it will not be told of, and reports whether it has
// taken it.
func (m *mirror) miss(ctx context.Context, to uint64) bool {
	n := to - m.at.Seq
	payload, err := json.Marshal(map[string]uint64{"from": m.at.Seq + 1, "to": to, "count": n})
	if err != nil {
		payload = nil // numbers are always JSON
	}
	told := m.tell(ctx, events.Event{
		Seq: to, TS: time.Now().UTC(), Type: events.Gap, Actor: "controller", Payload: payload,
		Message: fmt.Sprintf("%d events are not told of here; the city's log may have them", n),
	})
	if told {
		m.at.Missed += n
	}
	return told
}

// tell tells of one event, as often as it takes, and reports whether the script has taken it. It gives up when ctx
// ends, at the end of the city with the first failure, and when so many others wait that this one may have to go. A
// call that is under way when ctx ends is waited for, as long as there are last words: what it has told is then
// known.
func (m *mirror) tell(ctx context.Context, e events.Event) bool {
	text, err := json.Marshal(e)
	if err != nil { // it was read from JSON
		text = []byte("{}")
	}
	for wait := minWait; ctx.Err() == nil; wait = min(2*wait, maxWait) {
		_, err := m.o.call(m.words, text, "record")
		if err == nil {
			m.taken(e.Seq)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		m.failed(err)
		if m.until != 0 || !pause(ctx, wait) || e.Type != events.Gap &&
			m.o.Log.Last() > e.Seq+MaxBehind {
			return false
		}
	}
	return false
}

func (m *mirror) taken(seq uint64) {
	if m.fails >= failing {
		m.say(Healed, fmt.Sprintf("the events' script takes events again; the last that "+
			"waited is %d", m.o.Log.Last()))
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

// say writes an event about the script, of which it is told itself when it is well.
func (m *mirror) say(kind, message string) {
	m.o.Logger.Warn(message)
	if _, err := m.o.Log.Append(events.Event{Type: kind, Actor: "controller", Subject: m.o.Script,
		Message: message}); err != nil && !errors.Is(err, events.ErrQueued) {
		m.o.Logger.Warn("the event about the events' script could not be written", "error", err)
	}
}

func (m *mirror) save() {
	data, err := json.Marshal(m.at)
	if err == nil {
		err = disk.Replace(filepath.Join(m.o.State, fileName), data, 0o600)
	}
	if err != nil {
		m.o.Logger.Warn("how far the events' script has come could not be written down; some "+
			"events may be told twice", "error", err)
	}
}

// pause waits, and reports whether it has waited to the end.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
