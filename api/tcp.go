package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
)

// TCP contains the settings for the API over TCP.
type TCP struct {
	Addr      string // "127.0.0.1:8080"; "" = no listener
	Hosts     []string
	TokenFile string // "" = requests need no token
	MakeToken bool   // create a missing TokenFile with a random token
	ReadFile  string // file with a second token, which permits only reading; "" = none

	Tenants map[string]Tenant // by name
}

func (t TCP) same(u TCP) bool {
	return t.Addr == u.Addr && t.TokenFile == u.TokenFile && t.MakeToken == u.MakeToken &&
		t.ReadFile == u.ReadFile && slices.Equal(t.Hosts, u.Hosts) &&
		maps.EqualFunc(t.Tenants, u.Tenants, Tenant.Same)
}

func (t TCP) secrets() bool { return t.TokenFile != "" || len(t.Tenants) > 0 }

const (
	// delay after a failed listen, and between reads of a token
	tryAgain  = 2 * time.Second
	tokenTime = time.Second
	// how long a token stays valid while its file does not respond
	tokenGrace = 15 * time.Second

	// more than one, so that a hung read does not block other reads
	tokensAtOnce = 8
)

// KeepListening serves the API over TCP until ctx ends, with the newest settings from configs. It reports each change
// of the address and each problem. It retries after failures. A changed token closes only the connections that used it.
func KeepListening(ctx context.Context, configs <-chan TCP, report func(city.Listener),
	c city.Control, o Options) {
	k := &listenerKeeper{section: "[api]", o: o, notify: report}
	k.serve = func(ctx context.Context, l net.Listener, o Options) error {
		return Serve(ctx, l, c, o)
	}
	k.run(ctx, configs)
}

// KeepFleetListening is like KeepListening, for all cities in a directory. A tenant without a readable token has no
// access.
func KeepFleetListening(ctx context.Context, configs <-chan TCP, report func(city.Listener),
	d city.Directory, o Options) {
	k := &listenerKeeper{section: "[supervisor]", fleet: true, o: o, notify: report}
	k.serve = func(ctx context.Context, l net.Listener, o Options) error {
		return ServeFleet(ctx, l, d, o)
	}
	k.run(ctx, configs)
}

func (k *listenerKeeper) run(ctx context.Context, wants <-chan TCP) {
	k.o, k.files = k.o.withDefaults(), deadline.New[secret](tokensAtOnce)
	k.read = map[string]secret{}
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
			clear(k.read)
			k.update(ctx)
		case <-again.C:
			k.update(ctx)
		case err := <-k.failed:
			k.close()
			k.report(city.Listener{Problem: fmt.Sprintf("the API on %s has failed and is being "+
				"restarted: %v",
				k.want.Addr, err)})
		}
		if k.serving == nil && k.want.Addr != "" || k.want.secrets() {
			again.Reset(tryAgain)
		} else {
			again.Stop()
		}
	}
}

type listenerKeeper struct {
	serve   func(context.Context, net.Listener, Options) error
	fleet   bool
	section string
	o       Options
	notify  func(city.Listener)
	files   *deadline.Calls[secret]
	read    map[string]secret // the newest reads that returned, by path

	want     TCP
	reported city.Listener
	keys     keys
	ring     *atomic.Pointer[keyring] // the same tokens in the guard's format
	// stops the server and waits for it; nil = the server is not running
	serving func()
	failed  chan error
}

func (k *listenerKeeper) update(ctx context.Context) {
	if k.want.Addr == "" {
		k.report(city.Listener{})
		return
	}
	address := k.reported.Address
	now, err := k.readKeys(ctx)
	if err == nil && k.serving != nil {
		k.swapTokens(now)
	} else {
		k.close()
		if err == nil {
			address, err = k.begin(ctx, now)
		}
	}
	if err != nil {
		k.report(city.Listener{Problem: fmt.Sprintf("the API is not available on %s: %v",
			k.want.Addr, err)})
		return
	}
	k.report(city.Listener{Address: address, TokenFile: k.want.TokenFile, Problem: now.problem})
}

func (k *listenerKeeper) begin(ctx context.Context, now keys) (address string, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, networkOf(k.want.Addr), k.want.Addr)
	if err != nil {
		return "", fmt.Errorf("%s; gcity keeps trying", k.listenProblem(err))
	}
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
	return l.Addr().String(), nil
}

func (k *listenerKeeper) swapTokens(now keys) {
	if now.same(k.keys) {
		return
	}
	next := Guard{Token: now.token, ReadToken: now.read, Tenants: now.tenants}.keyring()
	gone := next.replace(k.ring.Load())
	k.ring.Store(next)
	for _, key := range gone {
		key.end()
	}
	k.keys = now
}

func (k *listenerKeeper) close() {
	if k.serving != nil {
		k.serving()
	}
	k.serving, k.failed = nil, nil
}

func (k *listenerKeeper) report(d city.Listener) {
	if d == k.reported {
		return
	}
	k.reported = d
	switch {
	case d.Problem != "" && d.Address != "":
		k.o.Log.Warn("some clients have no access to the API over TCP", "address", d.Address, "why",
			d.Problem)
	case d.Problem != "":
		k.o.Log.Warn("the API is not available over TCP", "why", d.Problem)
	case d.Address != "":
		k.o.Log.Info("the API is available over TCP", "address", d.Address, "token_file",
			d.TokenFile)
	default:
		k.o.Log.Info("the API is no longer available over TCP")
	}
	k.notify(d)
}

func (k *listenerKeeper) listenProblem(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program is listening on that address; stop it, or " +
			"change " + k.section + " port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine does not have that address; change " + k.section + " bind"
	case errors.Is(err, syscall.EACCES):
		return "permission denied; use port 1024 or a higher one"
	}
	return err.Error()
}

// networkOf returns the network of an address. With "tcp", 0.0.0.0 also accepts connections over IPv6.
func networkOf(addr string) string {
	if a, err := netip.ParseAddrPort(addr); err == nil && a.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// TCPAddr returns the address of an [api] table as TCP.Addr expects it.
func TCPAddr(bind string, port int) string {
	if port == 0 {
		return ""
	}
	if bind == "localhost" { // localhost can have several addresses
		bind = ""
	}
	return net.JoinHostPort(cmp.Or(bind, "127.0.0.1"), fmt.Sprint(port))
}
