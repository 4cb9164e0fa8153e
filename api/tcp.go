package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
)

// TCP is where a city is to answer besides its socket.
type TCP struct {
	Addr      string // "127.0.0.1:8080"; "" = nowhere
	Hosts     []string
	TokenFile string // "" = no token is asked for
	MakeToken bool   // a TokenFile that does not exist is created with a random token
	ReadFile  string // holds a second token that allows reading only; "" = none

	Tenants map[string]TenantOf // of a fleet, by name
}

func (t TCP) same(u TCP) bool {
	return t.Addr == u.Addr && t.TokenFile == u.TokenFile && t.MakeToken == u.MakeToken &&
		t.ReadFile == u.ReadFile && slices.Equal(t.Hosts, u.Hosts) &&
		maps.EqualFunc(t.Tenants, u.Tenants, TenantOf.Same)
}

// secrets tells whether there are files to be looked at.
func (t TCP) secrets() bool { return t.TokenFile != "" || len(t.Tenants) > 0 }

const (
	// after an address could not be had, and between two looks at a token
	tryAgain  = 2 * time.Second
	tokenTime = time.Second // for a file to be read

	// files that may be waited for: beside one that never answers another one can be written into [api]
	tokensAtOnce = 8
)

// Keep answers over TCP where the newest of wants says, until ctx ends. It tells of every change: of the address
// that it listens on, or why it does not; what fails is tried again until it works. Every change cuts what is
// connected; a token that changes cuts what was let in with it.
func Keep(ctx context.Context, wants <-chan TCP, tell func(city.Listener), c city.Control,
	o Options) {
	k := &keeper{section: "[api]", o: o, tell: tell}
	k.serve = func(ctx context.Context, l net.Listener, o Options) error {
		return Serve(ctx, l, c, o)
	}
	k.run(ctx, wants)
}

// KeepFleet is Keep for all cities of a directory. A tenant whose token cannot be had is not let in, and that is
// told beside the address.
func KeepFleet(ctx context.Context, wants <-chan TCP, tell func(city.Listener), d city.Directory,
	o Options) {
	k := &keeper{section: "[supervisor]", fleet: true, o: o, tell: tell}
	k.serve = func(ctx context.Context, l net.Listener, o Options) error {
		return ServeFleet(ctx, l, d, o)
	}
	k.run(ctx, wants)
}

func (k *keeper) run(ctx context.Context, wants <-chan TCP) {
	k.o, k.files = k.o.withDefaults(), deadline.New[secret](tokensAtOnce)
	defer func() { k.close() }()
	again := time.NewTicker(tryAgain)
	defer again.Stop()
	again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case want := <-wants:
			if want.same(k.want) {
				continue
			}
			k.close()
			k.want = want
			k.turn(ctx)
		case <-again.C:
			k.turn(ctx)
		case err := <-k.failed:
			k.close()
			k.say(city.Listener{Problem: fmt.Sprintf("the API on %s has ended and is "+
				"begun again: %v",
				k.want.Addr, err)})
		}
		if k.serving == nil && k.want.Addr != "" || k.want.secrets() {
			again.Reset(tryAgain)
		} else {
			again.Stop()
		}
	}
}

// keeper is one run of Keep.
type keeper struct {
	serve   func(context.Context, net.Listener, Options) error
	fleet   bool
	section string // where it is written down
	o       Options
	tell    func(city.Listener)
	files   *deadline.Calls[secret]

	want    TCP
	told    city.Listener
	keys    keys                     // that are asked for now
	ring    *atomic.Pointer[keyring] // the same, for the guard
	serving func()                   // ends it and waits for its end; nil: nobody listens
	failed  chan error
}

// turn brings about what is wanted, as far as it can be.
func (k *keeper) turn(ctx context.Context) {
	if k.want.Addr == "" {
		k.say(city.Listener{})
		return
	}
	now, err := k.readKeys(ctx)
	if err == nil && k.serving != nil {
		k.swap(now)
		k.say(city.Listener{Address: k.told.Address, TokenFile: k.want.TokenFile,
			Problem: now.problem})
		return
	}
	k.close()
	if err != nil {
		k.say(city.Listener{Problem: fmt.Sprintf("the API does not answer on %s: %v", k.want.Addr,
			err)})
		return
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", k.want.Addr)
	if err != nil {
		k.say(city.Listener{Problem: fmt.Sprintf("the API does not answer on %s: %s; it is "+
			"tried again",
			k.want.Addr, k.unheard(err))})
		return
	}
	k.begin(ctx, l, now)
	k.say(city.Listener{Address: l.Addr().String(), TokenFile: k.want.TokenFile,
		Problem: now.problem})
}

func (k *keeper) begin(ctx context.Context, l net.Listener, now keys) {
	ctx, end := context.WithCancel(ctx)
	o := k.o
	o.Guard = &Guard{Hosts: k.want.Hosts, Token: now.token, ReadToken: now.read, Fleet: k.fleet,
		Tenants: now.tenants, keys: new(atomic.Pointer[keyring])}
	k.ring = o.Guard.keys
	k.ring.Store(o.Guard.keyring())
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := k.serve(ctx, l, o); err != nil {
			failed <- err
		}
	})
	k.keys, k.failed = now, failed
	k.serving = func() { end(); wg.Wait() }
}

// swap has other tokens count from now on. What was let in with one that counts no more is cut, and nothing else.
func (k *keeper) swap(now keys) {
	if now.same(k.keys) {
		return
	}
	next := Guard{Token: now.token, ReadToken: now.read, Tenants: now.tenants}.keyring()
	gone := next.over(k.ring.Load())
	k.ring.Store(next)
	for _, key := range gone {
		key.end()
	}
	k.keys = now
}

func (k *keeper) close() {
	if k.serving != nil {
		k.serving()
	}
	k.serving, k.failed = nil, nil
}

func (k *keeper) say(d city.Listener) {
	if d == k.told {
		return
	}
	k.told = d
	switch {
	case d.Problem != "" && d.Address != "":
		k.o.Log.Warn("not everybody can use the API over TCP", "address", d.Address, "why",
			d.Problem)
	case d.Problem != "":
		k.o.Log.Warn("nobody can use the API over TCP", "why", d.Problem)
	case d.Address != "":
		k.o.Log.Info("the API answers over TCP", "address", d.Address, "token_file", d.TokenFile)
	default:
		k.o.Log.Info("the API no longer answers over TCP")
	}
	k.tell(d)
}

// unheard says why nobody can listen on an address.
func (k *keeper) unheard(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there; end that, or change " + k.section + " port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address; change " + k.section + " bind"
	case errors.Is(err, syscall.EACCES):
		return "you may not; ports from 1024 on are for everybody"
	}
	return err.Error()
}

// TCPAddr is the address of [api] as Keep takes it.
func TCPAddr(bind string, port int) string {
	if port == 0 {
		return ""
	}
	if bind == "localhost" { // which may be more than one address
		bind = ""
	}
	return net.JoinHostPort(cmp.Or(bind, "127.0.0.1"), fmt.Sprint(port))
}
