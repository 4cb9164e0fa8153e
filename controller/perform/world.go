package perform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/shutdown"
	"gcity/session"
)

// World is the part of a city and its controller that a Runner uses. Fields that also exist in controller.Options are
// documented there.
type World struct {
	Dir              string
	At               string
	Source           config.Source
	Provider         session.Provider
	Log              *events.Log
	Logger           *slog.Logger
	Host             agent.Host
	ShutdownDeadline *shutdown.Deadline

	Stores           func(rig string) (beads.Store, error)
	BackUp           func(ctx context.Context) error
	OnFoldersChanged func(dirs []string)
	OnConfigRead     func(revision string, good *config.City)
	CheckTrust       func(c, inForce *config.City) error
	ExtendTrust      func(inForce *config.City) error
	MayRun           func(inForce *config.City) func(user string) error
	SetListener      func(config.API)
	Allow            func(ctx context.Context, agents int) error
	CheckFolder      func() error
	OnRemoved        func(error) // called before the city stops because its folder was removed
	// CheckOwner returns a non-nil lost if another controller owns the city. CheckOwner may be nil.
	CheckOwner func() (lost, err error)

	Inbox     chan<- effect.Input
	Reply     func(effect.Reply)
	OnPanic   func(error)
	Snapshot  func() *city.Snapshot
	InForce   func() *effect.Configuration
	Translate func(*config.City) *effect.Configuration
	Patrolled func(took time.Duration)
	// may be nil
	Called func(scope string, writes bool, took time.Duration)
}

func (w *World) checkTrust(c, inForce *config.City) error {
	if w.CheckTrust == nil {
		return nil
	}
	return w.CheckTrust(c, inForce)
}

// mayRun returns an error if the user must first trust a changed program of an agent, an automation or a watchdog.
func (b *base) mayRun(ctx context.Context, user string) error {
	if b.w.MayRun == nil {
		return nil
	}
	// concurrent starts share one call, because they can be more than maxHung
	mayRun, ok := inBackground(ctx, b, "trust", trustLimit, func() func(string) error {
		return b.w.MayRun(b.w.InForce().Source)
	})
	switch {
	case !ok:
		return fmt.Errorf("cannot check whether its programs are trusted: a folder %w",
			errUnresponsive)
	case mayRun == nil:
		return nil
	}
	return mayRun(user)
}

const trustLimit = 15 * time.Second // includes the time until git has finished a change

const allowTime = 10 * time.Second

func (w *World) allow(cfg *config.City) error {
	if w.Allow == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), allowTime)
	defer cancel()
	return w.Allow(ctx, len(agent.Plan(cfg, w.Host)))
}

// checkFolder returns an error if the city's folder was moved or removed while the city runs, because a start must not
// create the folder again. The city's state stays in one folder, because disk.Hold keeps the folder open.
func (w *World) checkFolder() error {
	err := error(nil)
	if w.CheckFolder != nil {
		err = w.CheckFolder()
	} else if _, gone := os.Stat(w.Dir); w.Dir != "" && errors.Is(gone, fs.ErrNotExist) {
		err = &disk.MovedError{Path: w.Dir}
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		return session.Missing(folderError{moved})
	}
	return nil
}

// folderError explains what to do if the city's folder is not at its path.
type folderError struct{ moved *disk.MovedError }

func (e folderError) Unwrap() error { return e.moved }

func (e folderError) Error() string {
	text := "the city's folder " + e.moved.Error()
	switch {
	case e.moved.Removed:
		return text + "; the city stops"
	case e.moved.To == "":
		return text + "; move it back, or stop the controller (kill -USR1 keeps its agents running)"
	}
	return text + "; move it back, or run `gcity stop` at the new location and start the city " +
		"there"
}

// checkOwner returns an error only if another controller owns the city. away is why the folder is not at its path, or
// "".
func (sr *sessions) checkOwner() (lost error, away string) {
	if sr.w.CheckOwner == nil {
		return nil, ""
	}
	lost, err := sr.w.CheckOwner()
	if lost != nil {
		return lost, ""
	}
	if moved, ok := errors.AsType[*disk.MovedError](err); ok {
		sr.stopIfRemoved(err)
		return nil, folderError{moved}.Error()
	}
	if err != nil {
		sr.w.Logger.Warn("cannot check the city's lock", "err", err)
	}
	return nil, ""
}

// removalDelay is the time between two checks of a removed folder. The city stops only if both find that the folder was
// removed.
const removalDelay = 3 * time.Second

// stopIfRemoved stops the city if its folder was removed. It does nothing if the folder was moved, or if its state is
// unknown. err is the result of a check of the folder.
func (sr *sessions) stopIfRemoved(err error) {
	if sr.w.CheckFolder == nil || !disk.IsRemoved(err) ||
		!sr.removed.CompareAndSwap(false, true) {
		return
	}
	sr.within(2*removalDelay, func(ctx context.Context) effect.Input {
		select {
		case <-ctx.Done():
		case <-time.After(removalDelay):
			if err := sr.w.CheckFolder(); disk.IsRemoved(err) {
				sr.w.OnRemoved(err)
				return effect.Shutdown{}
			}
		}
		sr.removed.Store(false)
		return nil
	})
}
