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

// Options configures the controller of a city.
type Options struct {
	Dir string // the city's folder, absolute, symlinks resolved
	// see controller.Hold.StablePath; "" = Dir
	At       string
	Mode     string // shown as Snapshot.Mode; see controller.Supervised
	Version  string
	Provider session.Provider
	Log      *events.Log
	Logger   *slog.Logger
	Host     agent.Host

	Files  []string // additional configuration files; see config.Source
	Strict bool

	// Stores opens a rig's store, or the city's store if rig is "". It may be called several times and from any
	// goroutine. If Stores is nil, the city has no work and no automations.
	Stores func(rig string) (beads.Store, error)

	// BackUp makes the backups that are due. It is called every ten minutes, outside the loop. It may be nil.
	BackUp func(ctx context.Context) error

	// OnFoldersChanged is called with the configuration's automation and formula folders when they change. It must not
	// block. It may be nil.
	OnFoldersChanged func(dirs []string)

	// OnConfigRead is called after each read of the configuration. revision is "" if the read failed, and c is nil if
	// the configuration is invalid. Calls come from outside the loop, one at a time. It may be nil.
	OnConfigRead func(revision string, c *config.City)

	// CheckTrust returns an error if the programs of a configuration and of its automations are not allowed to run. If
	// the user can allow them, the error is an effect.Untrusted. inForce is the configuration in force; nil = none.
	// CheckTrust is called outside the loop, before a change is applied. It may be nil.
	CheckTrust func(c, inForce *config.City) error

	// ExtendTrust is called at each patrol that finds the configuration in force unchanged on disk. It records pulled
	// commits that change no program. If a script in force has changed and the user must first trust it, ExtendTrust
	// returns an effect.Untrusted. It is called outside the loop, and may be nil.
	ExtendTrust func(inForce *config.City) error

	// MayRun returns a function that returns an error if a program must not run until the user trusts it. user is the
	// agent, automation or watchdog that uses the program; see trust.Program. If the function is nil, all programs may
	// run. MayRun is called outside the loop, and may be nil.
	MayRun func(inForce *config.City) func(user string) error

	// SetListener is called with the configured TCP listener whenever it changes. It must not block. ListenerStates
	// delivers the listener's state. If SetListener is nil, the state is unknown.
	SetListener func(config.API)
	// Allow returns an error if a configuration with this many agents must not be applied. It is called outside the
	// loop, after edits. It may be nil.
	Allow          func(ctx context.Context, agents int) error
	ListenerStates <-chan city.Listener

	// OpenFiles is this process's limit on open files; 0 = unknown. The controller warns if the limit is too low.
	OpenFiles uint64

	// Faults delivers panics from other parts of the city; a panic ends the controller. The channel has capacity one,
	// and senders must not block. It may be nil.
	Faults chan error

	// signals that automation folders may have changed; nil = only patrols check the folders
	FoldersChanged <-chan struct{}
	// signals that the configuration might have changed; nil = only patrols check the configuration
	ConfigChanged <-chan struct{}
	// Sweep kills processes that runs of the previous controller left behind. It is called once, before the first
	// decision. It may be nil.
	Sweep func() (int, error)
	// CheckOwner is called outside the loop before the sessions are listed. If it returns a
	// *controller.RunningError, the controller ends and leaves the agents running. It may be nil.
	CheckOwner func() error
	// CheckFolder returns a *disk.MovedError if Dir no longer leads to the city. If the folder was removed, the
	// controller stops the agents and ends. CheckFolder may be nil.
	CheckFolder func() error
	// called after each iteration of the loop, at least every 10 s; may be nil
	Heartbeat func(status string)
	// time limit for everything that Run does after its last decision; Run starts the timer; nil = effect.ShutdownLimit
	ShutdownDeadline *shutdown.Deadline
	// interval of the loop's iterations while a client watches; 0 = 1 s
	Pulse time.Duration
}

// Source returns the source of the city's configuration.
func (o *Options) Source() config.Source {
	return config.Source{Dir: o.Dir, Files: o.Files, Strict: o.Strict, Environ: o.Host.Environ}
}

// World is the part of a city and its controller that a Runner uses.
type World struct {
	Options
	OnRemoved func(error) // called before the city stops because its folder was removed
	// OwnerLost is like CheckOwner, but returns lost if another controller owns the city. It may be nil.
	OwnerLost func() (lost, err error)

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
	if sr.w.OwnerLost == nil {
		return nil, ""
	}
	lost, err := sr.w.OwnerLost()
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
