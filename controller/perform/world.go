package perform

import (
	"context"
	"log/slog"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
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
	CheckTrust       func(*config.City) error
	SetListener      func(config.API)
	Allow            func(ctx context.Context, agents int) error
	CheckFolder      func() error
	// CheckOwner checks whether the city still belongs to this controller. lost is set if another controller owns the
	// city; err is any other problem. CheckOwner may be nil.
	CheckOwner func() (lost, err error)

	Inbox     chan<- effect.Input
	Reply     func(effect.Reply)
	OnPanic   func(error) // called with a panic in an effect
	Snapshot  func() *city.Snapshot
	InForce   func() *effect.Configuration
	Translate func(*config.City) *effect.Configuration
	Patrolled func(took time.Duration)
	// counts a call to a store; may be nil
	Called func(scope string, writes bool, took time.Duration)
}
