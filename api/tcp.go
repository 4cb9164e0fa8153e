package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gcity/city"
	"gcity/internal/beside"
)

// TCP is where a city is to answer besides its socket.
type TCP struct {
	Addr      string // "127.0.0.1:8080"; "" = nowhere
	Hosts     []string
	TokenFile string // "" = no token is asked for
}

func (t TCP) same(u TCP) bool {
	return t.Addr == u.Addr && t.TokenFile == u.TokenFile && slices.Equal(t.Hosts, u.Hosts)
}

const (
	tryAgain  = 2 * time.Second // after an address could not be had, and between two looks at a token
	tokenTime = time.Second     // for a file to be read

	tokensAtOnce = 8 // files that may be waited for: beside one that never answers another one can be written into [api]
)

// Keep answers over TCP where the newest of wants says, until ctx ends. It tells of every change: of the address that it
// listens on, or why it does not; what fails is tried again until it works. Every change cuts what is connected.
func Keep(ctx context.Context, wants <-chan TCP, tell func(city.Door), c city.Control, o Options) {
	k := &keeper{city: c, o: o.withDefaults(), tell: tell, files: beside.New[secret](tokensAtOnce)}
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
			k.say(city.Door{Problem: fmt.Sprintf("the API on %s has ended and is begun again: %v", k.want.Addr, err)})
		}
		if k.serving == nil && k.want.Addr != "" || k.want.TokenFile != "" {
			again.Reset(tryAgain)
		} else {
			again.Stop()
		}
	}
}

// keeper is one run of Keep.
type keeper struct {
	city  city.Control
	o     Options
	tell  func(city.Door)
	files *beside.Looks[secret]

	want    TCP
	told    city.Door
	token   string // that is asked for now
	serving func() // ends it and waits for its end; nil: nobody listens
	failed  chan error
}

// turn brings about what is wanted, as far as it can be.
func (k *keeper) turn(ctx context.Context) {
	if k.want.Addr == "" {
		k.say(city.Door{})
		return
	}
	key, err := k.readToken(ctx)
	if err == nil && k.serving != nil && key == k.token {
		return
	}
	k.close()
	if err != nil {
		k.say(city.Door{Problem: fmt.Sprintf("the API does not answer on %s: %v", k.want.Addr, err)})
		return
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", k.want.Addr)
	if err != nil {
		k.say(city.Door{Problem: fmt.Sprintf("the API does not answer on %s: %s; it is tried again", k.want.Addr, unheard(err))})
		return
	}
	k.begin(ctx, l, key)
	k.say(city.Door{Address: l.Addr().String()})
}

func (k *keeper) begin(ctx context.Context, l net.Listener, token string) {
	ctx, end := context.WithCancel(ctx)
	o := k.o
	o.Guard = &Guard{Hosts: k.want.Hosts, Token: token}
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Serve(ctx, l, k.city, o); err != nil {
			failed <- err
		}
	})
	k.token, k.failed = token, failed
	k.serving = func() { end(); wg.Wait() }
}

func (k *keeper) close() {
	if k.serving != nil {
		k.serving()
	}
	k.serving, k.failed = nil, nil
}

func (k *keeper) say(d city.Door) {
	if d == k.told {
		return
	}
	k.told = d
	switch {
	case d.Problem != "":
		k.o.Log.Warn("nobody can use the API over TCP", "why", d.Problem)
	case d.Address != "":
		k.o.Log.Info("the API answers over TCP", "address", d.Address)
	default:
		k.o.Log.Info("the API no longer answers over TCP")
	}
	k.tell(d)
}

// unheard says why nobody can listen on an address.
func unheard(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there; end that, or change [api] port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address; change [api] bind"
	case errors.Is(err, syscall.EACCES):
		return "you may not; ports from 1024 on are for everybody"
	}
	return err.Error()
}

// secret is what a look at a token's file saw.
type secret struct {
	token string
	err   error
}

// readToken gives the token to be asked for, "" if there is none. Its errors do not contain it.
func (k *keeper) readToken(ctx context.Context) (string, error) {
	path := k.want.TokenFile
	if path == "" {
		return "", nil
	}
	saw, ok := k.files.At(ctx, path, time.Now(), tokenTime, func() secret {
		token, err := ReadToken(path)
		return secret{token, err}
	})
	if !ok {
		return "", fmt.Errorf("the file of its token, %s, does not answer", path)
	}
	return saw.token, saw.err
}

// ReadToken reads a file with a token, which must be nobody else's business.
func ReadToken(path string) (string, error) {
	// Whatever else is there must not keep the reader waiting.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("its token cannot be read: %w; `head -c 32 /dev/urandom | base64 > FILE` makes one, chmod 600 keeps it yours", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("its token cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file with a token in it", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others may read its token (%v): chmod 600 %s", info.Mode().Perm(), path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken+64))
	if err != nil {
		return "", fmt.Errorf("its token cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(data))
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	if n := len(token); n < minToken || n > maxToken || odd {
		return "", fmt.Errorf("%s holds no token: one line of %d to %d letters, digits and signs, without spaces", path, minToken, maxToken)
	}
	return token, nil
}

// A shorter token can be guessed, a longer one does not belong into a header.
const minToken, maxToken = 16, 512

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
