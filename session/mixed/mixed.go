// Package mixed combines several session providers into one. Each agent has its own provider, and a call about a
// session goes to the provider that runs the session. A file in the city's folder lists the providers that may have
// sessions. With it, a controller finds the sessions that an earlier controller started, even if the configuration has
// changed since.
//
// # Concurrency
//
// A Provider is safe for concurrent use. It has one goroutine for each provider that is a session.Notifier or a
// session.Changer, one for each List call to a patient provider, and one for each call of Options.Open. Close ends all
// of them, except calls of Options.Open that hang.
package mixed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/internal/recovery"
	"gcity/session"
)

// Options configures a Provider.
type Options struct {
	Dir string // the city's .gc folder
	// name of the provider that "" means in the configuration
	DefaultProvider string

	// Open opens a provider by its name. Calls with the same name never overlap.
	Open func(name string) (p session.Provider, close func(), err error)

	// FindProviders returns all providers that might have sessions. If it is nil, a damaged MarksFile makes New fail.
	FindProviders func() []string

	Observe bool         // read-only
	Logger  *slog.Logger // nil disables logging

	// Broken is called with a panic from one of the provider's goroutines. After that, the provider must be opened
	// again. If Broken is nil, the panic ends the program.
	Broken func(error)
}

// Provider forwards calls to other providers. If a session's provider does not support a call, the error is a
// session.LackError.
type Provider struct {
	o     Options
	exits chan session.Exit
	// see session.Changer
	changes chan struct{}
	done    chan struct{}
	life    context.Context // for List calls to patient providers
	end     context.CancelCauseFunc
	wg      recovery.Group

	writeToken chan struct{} // contains a token while the marks file is being written

	mu      sync.Mutex
	members map[string]*member
	opening map[string]*opening // calls in progress, by provider name
	order   []*member           // sorted by name, after the default provider
	// by session name; complete for each member with listed == true
	held   map[string][]location
	closed bool
}

// opening is a call of Options.Open. All concurrent callers use its result.
type opening struct {
	began  time.Time
	done   chan struct{} // closed when the call ends
	member *member       // contains the result after done is closed
}

// Provider.finish can change p and err until p is set. Code that does not know whether p is set reads them through
// opened.
type member struct {
	name   string
	p      session.Provider // nil if the provider could not be opened
	close  func()
	err    error
	inUse  bool // the provider might have sessions
	marked bool
	listed bool // Provider.held contains all of this provider's sessions
	list   *sharedList
	starts int // in progress
	gen    int // increases when a start begins or ends
}

type location struct {
	provider *member
	id       string
	alive    bool
	gen      int // value of member.gen when the session was started or last listed
}

var _ interface {
	session.Provider
	session.Notifier
	session.Changer
	session.Attacher
	session.Watcher
	session.Keyer
	session.Marker
	session.Meter
	session.Clearer
	session.Capturer
	session.Acknowledger
	session.MultiProvider
	session.Local
	session.Forwarder
	session.Limiter
	session.Patient
} = (*Provider)(nil)

// If the channel is full, List still reports the exits.
const exitsKept = 1024

const (
	// openLimit is how long callers without a context wait for a provider to open.
	openLimit = 5 * time.Second
	// closeLimit is how long Close waits for calls in progress.
	closeLimit = 5 * time.Second
)

// New opens the default provider, and every provider that may have sessions. It fails if the default provider cannot be
// opened or the marks file cannot be used. List reports all other errors, and providers that are not open yet.
func New(o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Provider{
		o: o, exits: make(chan session.Exit, exitsKept), done: make(chan struct{}),
		changes:    make(chan struct{}, 1),
		writeToken: make(chan struct{}, 1),
		members:    map[string]*member{}, opening: map[string]*opening{},
		held: map[string][]location{},
		wg:   recovery.Group{OnPanic: recovery.Fatal(o.Broken)},
	}
	p.life, p.end = context.WithCancelCause(context.Background())
	marked, err := Marks(o.Dir)
	if err != nil {
		marked, err = p.recover(marked, err)
	}
	if err != nil {
		return nil, err
	}
	home, _, err := p.provider(context.Background(), o.DefaultProvider)
	if err != nil {
		return nil, err
	}
	home.inUse, home.marked = true, true
	ctx, cancel := context.WithTimeout(p.life, openLimit)
	defer cancel()
	for _, name := range marked {
		p.addMarked(name)
		_, _, _ = p.provider(ctx, name) // List reports the error
	}
	return p, nil
}

func (p *Provider) addMarked(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.members[name]
	if m == nil {
		m = p.add(name)
		m.err = errOpening
	}
	m.inUse, m.marked = true, true
}

// The caller of add must hold p.mu.
func (p *Provider) add(name string) *member {
	m := &member{name: name}
	p.members[name] = m
	p.order = append(p.order, m)
	slices.SortFunc(p.order[1:], func(a, b *member) int { return strings.Compare(a.name, b.name) })
	return m
}

// provider returns the provider with a name. It opens the provider if necessary.
func (p *Provider) provider(ctx context.Context, name string) (*member, session.Provider, error) {
	o := p.open(name)
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("the session provider %s is still being opened: %w", name,
			context.Cause(ctx))
	}
	q, err := p.opened(o.member)
	return o.member, q, err
}

// open opens a provider in the background, unless it is open or is being opened.
func (p *Provider) open(name string) *opening {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.opening[name]; o != nil {
		return o
	}
	o := &opening{began: time.Now(), done: make(chan struct{}), member: p.members[name]}
	if o.member == nil && p.closed {
		o.member = &member{name: name, err: errClosed}
	}
	if p.closed || o.member != nil && o.member.p != nil {
		close(o.done)
		return o
	}
	p.opening[name] = o
	p.wg.Go(func() {
		var q session.Provider
		var closeIt func()
		err := errBroken
		defer func() { p.finish(o, name, q, closeIt, err) }()
		q, closeIt, err = p.o.Open(name)
	})
	return o
}

func (p *Provider) finish(o *opening, name string, q session.Provider, closeIt func(), err error) {
	late := false
	defer func() {
		if late {
			closeIt()
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	m := o.member
	if m == nil {
		m = p.add(name)
	}
	m.p, m.close, m.err = q, closeIt, err
	if late = p.closed && err == nil; late {
		m.p, m.err = nil, errClosed
	}
	if n, ok := m.p.(session.Notifier); ok {
		p.wg.Go(func() { p.forward(m, n.Exits()) })
	}
	if c, ok := m.p.(session.Changer); ok {
		p.wg.Go(func() { p.forwardChanges(c.Changes()) })
	}
	delete(p.opening, name)
	o.member = m
	close(o.done)
}

func (p *Provider) opened(m *member) (session.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return m.p, m.err
}

var errBroken = errors.New("the call to the session provider was interrupted")

var errOpening = errors.New("the session provider is still being opened")

var errClosed = errors.New("the session providers are closed")

func (p *Provider) forward(m *member, from <-chan session.Exit) {
	for {
		select {
		case <-p.done:
			return
		case x, ok := <-from:
			if !ok {
				return
			}
			p.mu.Lock()
			p.ended(m, x.Name, x.ID)
			p.mu.Unlock()
			select {
			case p.exits <- x:
			default:
				p.o.Logger.Warn("the exit channel is full; the next patrol will report this exit",
					"session",
					x.Name)
			}
		}
	}
}

// Exits implements session.Notifier. Close closes the channel, unless a call in progress hangs.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

func (p *Provider) forwardChanges(from <-chan struct{}) {
	for {
		select {
		case <-p.done:
			return
		case <-from:
		}
		select {
		case p.changes <- struct{}{}:
		default: // a signal is already pending
		}
	}
}

// Changes implements session.Changer.
func (p *Provider) Changes() <-chan struct{} { return p.changes }

// Close closes all providers. A provider that is still being opened after a few seconds is closed later.
func (p *Provider) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	var closers []func()
	for _, m := range p.order {
		if m.p != nil {
			closers = append(closers, m.close)
		}
	}
	p.mu.Unlock()
	close(p.done)
	p.end(errClosed)
	for _, closeIt := range closers {
		closeIt()
	}
	if p.wg.WaitFor(closeLimit) {
		close(p.exits)
	}
}

func (p *Provider) inUse() []*member {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 1 {
		return p.order
	}
	return slices.DeleteFunc(slices.Clone(p.order), func(m *member) bool { return !m.inUse })
}

// The caller must hold p.mu.
func (p *Provider) ended(m *member, name, id string) {
	for i := range p.held[name] {
		if h := &p.held[name][i]; h.provider == m && h.id == id {
			h.alive = false
		}
	}
}

// LimitsOf implements session.MultiProvider. A provider that does not open within a few seconds has no known limits.
func (p *Provider) LimitsOf(provider string) session.Limits {
	ctx, cancel := context.WithTimeout(p.life, openLimit)
	defer cancel()
	_, q, err := p.provider(ctx, cmp.Or(provider, p.o.DefaultProvider))
	if err != nil {
		return session.Limits{}
	}
	return session.LimitsOf(q)
}

// Limits implements session.Limiter. It returns the abilities that no provider in use has.
func (p *Provider) Limits() session.Limits {
	var out session.Limits
	for i, m := range p.inUse() {
		q, err := p.opened(m)
		if err != nil {
			continue
		}
		l := session.LimitsOf(q)
		if i == 0 {
			out = l
			continue
		}
		out.Why = ""
		out.Lacks = slices.DeleteFunc(out.Lacks, func(a session.Ability) bool {
			return !slices.Contains(l.Lacks, a)
		})
	}
	return out
}

// A live session takes precedence over an ended one.
func (p *Provider) providerOf(ctx context.Context, name string) (*member, error) {
	return p.find(ctx, name, "")
}

// id may be "". A session with this ID takes precedence.
func (p *Provider) find(ctx context.Context, name, id string) (*member, error) {
	used := p.inUse()
	if len(used) == 1 {
		_, err := p.opened(used[0])
		return used[0], err
	}
	if m := p.findHolder(name, id); m != nil {
		return m, nil
	}
	all, err := p.List(ctx)
	_, err = session.Await(ctx, all, err)
	if m := p.findHolder(name, id); m != nil {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot determine which provider runs session %q: %w", name, err)
	}
	return used[0], nil
}

func (p *Provider) findHolder(name, id string) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *location
	for i := range p.held[name] {
		h := &p.held[name][i]
		if id != "" && h.id == id {
			return h.provider
		}
		if best == nil || h.alive && !best.alive {
			best = h
		}
	}
	if best == nil {
		return nil
	}
	return best.provider
}
