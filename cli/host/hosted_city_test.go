package host

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/internal/recovery"
	"gcity/internal/shutdown"
)

type endless struct{ city.Control }

func (endless) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (endless) RunOnce(context.Context) error { return nil }
func (endless) Hurry()                        {}
func (endless) GiveUp()                       {}
func (endless) StopLimit() time.Duration      { return time.Minute }
func (endless) FirstList() <-chan struct{}    { return nil }
func (endless) SetMode(string)                {}

func (endless) Snapshot(context.Context) (*city.Snapshot, error) { return &city.Snapshot{}, nil }

func (endless) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] { return nil }

func quietCity(closeIt func()) *hostedCity {
	until := func(ctx context.Context) { <-ctx.Done() }
	return &hostedCity{own: slog.New(slog.DiscardHandler), signals: make(chan os.Signal, 8),
		release: func() {}, City: &City{
			Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{}),
			parts: parts{Loop: endless{}, last: shutdown.New(time.Second),
				faults: folder.NewFaults(), mirror: until, serveTCP: until,
				serve: func(ctx context.Context) error {
					<-ctx.Done()
					return nil
				}, ReleaseAll: closeIt},
		}}
}

func TestHostedCityThatDoesNotClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		k := quietCity(func() { <-disk })
		ended := make(chan error, 1)
		go func() { ended <- k.Run(ctx, func() {}) }()
		synctest.Wait()
		stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "cannot release") {
				t.Error(err)
			}
		default:
			t.Error("Run did not return")
		}
		close(disk)
	})
}

func TestHostedCityCrashesOutsideItsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := recovery.Catch(func() {
			_ = quietCity(func() {}).Run(t.Context(), func() { panic("beside") })
		})
		if p, ok := errors.AsType[*recovery.Panic](fault); !ok || p.Value != "beside" {
			t.Errorf("%v", fault)
		}
	})
}
