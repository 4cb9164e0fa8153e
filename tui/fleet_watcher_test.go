package tui

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/tui/feed"
)

// unreadable is a directory whose list of cities cannot be read.
type unreadable struct {
	city.Directory
	why atomic.Pointer[error]
}

func (u *unreadable) Watch(context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) { yield(nil, *u.why.Load()) }
}

func TestWhyTheListCannotBeReadIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.NewTextHandler(&log, nil)), Fail: cancel}
		d := &unreadable{}
		fails := func(text string) {
			err := errors.New(text)
			d.why.Store(&err)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
		}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		err := errors.New("the socket is gone")
		d.why.Store(&err)
		r.Spawn("cities", l.Run)
		fails("the socket is gone")
		fails("supervisor.json is damaged")
		if n := strings.Count(log.String(), "the stream of city lists ended"); n != 2 {
			t.Errorf("two reasons are logged %d times:\n%.1000s", n, log.String())
		}
		cancel()
		r.Goroutines.Wait()
	})
}
