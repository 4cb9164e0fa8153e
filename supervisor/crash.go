package supervisor

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/internal/recovery"
)

// unlogged is a panic that has not been logged yet.
type unlogged struct{ *recovery.Panic }

// guarded returns a panic as an error of type unlogged.
func guarded(f func() error) (err error) {
	fault := recovery.Catch(func() { err = f() })
	if p, ok := errors.AsType[*recovery.Panic](fault); ok {
		return unlogged{p}
	}
	return err
}

func (w *worker) runRecovering() {
	defer close(w.done)
	defer w.s.removeWorker(w)
	defer w.watch.stop()
	for {
		err := guarded(func() error { w.run(); return nil })
		if err == nil {
			return
		}
		until := time.Now().Add(retryDelays.Backoff)
		w.setCrashed(err, until)
		if !w.pause(until) {
			w.endUnopened(nil, true)
			return
		}
	}
}

const recordLimit = 5 * time.Second

func (w *worker) setRefused(err error, until time.Time) {
	text := err.Error()
	w.s.mu.Lock()
	news := w.why != text
	w.s.mu.Unlock()
	if c, ok := errors.AsType[*recovery.Panic](err); ok {
		w.s.o.Logger.Error("a city crashed while it was being opened", "city", w.entry().Name,
			"path", w.path, "error", text, "stack", string(c.Stack()))
	} else if news {
		w.s.o.Logger.Warn("cannot open a city", "city", w.entry().Name, "path", w.path, "why",
			text, "again", until)
	}
	busy := w.s.o.Busy(err)
	w.set(func() {
		w.changeState(city.CityRefused)
		w.why, w.until, w.cause = text, until, ""
		switch {
		case busy:
			w.lives, w.cause = 0, city.RunsElsewhere
		case errors.Is(err, errUnresponsive):
			w.cause = city.Unresponsive
		}
	})
	if !busy {
		w.countLeftovers()
	}
}

func (w *worker) setCrashed(err error, until time.Time) {
	var n int
	w.set(func() {
		w.crashes++
		n = w.crashes
		w.changeState(city.CityCrashed)
		w.why, w.until = why(err), until
	})
	args := []any{"city", w.entry().Name, "path", w.path, "error", err.Error(), "crashes", n,
		"again", until}
	own, ours := errors.AsType[unlogged](err)
	if ours {
		args = append(args, "stack", string(own.Stack()))
	}
	w.s.o.Logger.Error("a city crashed; its agents keep running", args...)
	if _, logged := errors.AsType[*recovery.Panic](err); ours || !logged {
		w.record(err, n, until)
	}
}

func why(err error) string {
	line := firstLine(err.Error())
	if !strings.Contains(line, "agents") {
		line += "; the city's agents keep running"
	}
	return line
}

// record writes a crash to the city's log. It gives up if the log does not respond.
func (w *worker) record(err error, n int, until time.Time) {
	if w.s.o.Record == nil {
		return
	}
	// these values can always be encoded
	payload, _ := json.Marshal(map[string]any{"error": firstLine(err.Error()), "crashes": n,
		"until": until})
	e := events.Event{Type: events.CityCrashed, Actor: "supervisor",
		Message: firstLine(err.Error()), Payload: payload}
	written := make(chan error, 1)
	// might never return if the file system hangs
	go func() { written <- recovery.Try(func() error { return w.s.o.Record(w.path, e) }) }()
	select {
	case err := <-written:
		if err != nil {
			w.s.o.Logger.Warn("cannot record the crash in the city's log", "path", w.path, "error",
				err)
		}
	case <-time.After(recordLimit):
		w.s.o.Logger.Warn("cannot record the crash in the city's log: the write has not "+
			"finished in time", "path", w.path)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
