package api

import (
	"context"
	"fmt"
	"gcity/api/wire"
	"math"
	"net/http"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"time"
)

// This file does not use net/http/pprof, because its initialization would run in every gcity command.

const maxProfile = 10 * time.Minute

// profile serves profiles under the paths and in the formats of net/http/pprof.
func (s *server) profile(w http.ResponseWriter, r *http.Request, path string) {
	var err error
	switch path {
	case "", "/":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "profile?seconds=30\ntrace?seconds=1")
		for _, p := range pprof.Profiles() {
			fmt.Fprintf(w, "%s?debug=1 (%d)\n", p.Name(), p.Count())
		}
	case "/profile":
		err = s.record(w, r, 30, func() error {
			return pprof.StartCPUProfile(w)
		}, pprof.StopCPUProfile)
	case "/trace":
		err = s.record(w, r, 1, func() error { return trace.Start(w) }, trace.Stop)
	case "/allocs", "/block", "/goroutine", "/heap", "/mutex", "/threadcreate":
		err = lookup(w, r, strings.TrimPrefix(path, "/"))
	default:
		err = wire.UnknownPath()
	}
	if err != nil {
		s.fail(w, err)
	}
}

func (s *server) record(w http.ResponseWriter, r *http.Request, seconds uint64, start func() error,
	stop func()) error {
	if r.URL.Query().Has("seconds") {
		var err error
		if seconds, err = number(r, "seconds", uint64(maxProfile/time.Second)); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := start(); err != nil { // only one profile can be recorded at a time
		return wire.Invalid("cannot start the profile: %v", err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	<-ctx.Done()
	return nil
}

func lookup(w http.ResponseWriter, r *http.Request, name string) error {
	debug, err := number(r, "debug", math.MaxInt32)
	if err != nil {
		return err
	}
	if name == "heap" && r.URL.Query().Has("gc") {
		runtime.GC()
	}
	kind := "application/octet-stream"
	if debug > 0 {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	return pprof.Lookup(name).WriteTo(w, int(debug))
}
