package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
)

// keyring is what a guard compares tokens with.
type keyring struct {
	all     *key // nil: no token opens everything
	read    *key // allows reading everything; nil: no such token
	tenants map[string]*key
}

// key is a token that opens something for as long as it lives, and so does what was let in with it.
type key struct {
	sum   [sha256.Size]byte
	reads bool // and changes nothing
	life  context.Context
	end   context.CancelFunc
}

func newKey(token string) *key {
	k := &key{sum: sha256.Sum256([]byte(token))}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// lend has something done when the key's life ends, until it is given back; after that nothing of it is done any more.
func (k *key) lend(cut func()) (back func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(k.life, func() { defer close(done); cut() })
	return func() {
		if !stop() {
			<-done
		}
	}
}

// lent is the body of a request, which ends with the life of its key: what comes later is not acted on.
type lent struct {
	io.ReadCloser
	by *key
}

func (l lent) Read(b []byte) (int, error) {
	if l.by.life.Err() != nil {
		return 0, errKeyEnded
	}
	n, err := l.ReadCloser.Read(b)
	if l.by.life.Err() != nil {
		return 0, errKeyEnded
	}
	return n, err
}

var errKeyEnded = errors.New("the token that it came with counts no more")

func (g Guard) keyring() *keyring {
	k := &keyring{tenants: map[string]*key{}}
	if g.Token != "" {
		k.all = newKey(g.Token)
		if g.ReadToken != "" {
			k.read = newKey(g.ReadToken)
			k.read.reads = true
		}
	}
	for name, t := range g.Tenants {
		if t.Token != "" && name != "" {
			k.tenants[name] = newKey(t.Token)
		}
	}
	return k
}

// over puts the keys of before into their places again that are the same, and gives those that count no more.
func (k *keyring) over(before *keyring) (gone []*key) {
	keep := func(now, was *key) *key {
		switch {
		case was == nil:
		case now != nil && now.sum == was.sum:
			now.end()
			return was
		default:
			gone = append(gone, was)
		}
		return now
	}
	k.all, k.read = keep(k.all, before.all), keep(k.read, before.read)
	for name, was := range before.tenants {
		if now := keep(k.tenants[name], was); now != nil {
			k.tenants[name] = now
		}
	}
	return gone
}

// opens is the key with this digest if it opens a path. It takes as long for a tenant that there is as for one that
// there is not, and says nothing else of either.
func (k *keyring) opens(path string, given [sha256.Size]byte) *key {
	none := &key{} // which no token has
	all, read, own := none, none, none
	if k.all != nil {
		all = k.all
	}
	if k.read != nil {
		read = k.read
	}
	who, _, _ := tenantPath(path)
	if key, is := k.tenants[who]; is {
		own = key
	}
	isAll, isOwn := subtle.ConstantTimeCompare(given[:], all.sum[:]),
		subtle.ConstantTimeCompare(given[:], own.sum[:])
	isRead := subtle.ConstantTimeCompare(given[:], read.sum[:])
	switch {
	case isAll == 1:
		return all
	case isOwn == 1:
		return own
	case isRead == 1:
		return read
	}
	return nil
}
