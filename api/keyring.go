package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
)

type keyring struct {
	all     *key // permits everything; nil = no such key
	read    *key // permits reading everything; nil = no such key
	tenants map[string]*key
}

// key is the hash of a token. life ends when the token is revoked.
type key struct {
	sum   [sha256.Size]byte
	reads bool
	life  context.Context
	end   context.CancelFunc
}

func newKey(token string) *key {
	k := &key{sum: sha256.Sum256([]byte(token))}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// onRevoke registers a function to call when the key is revoked. If the function is running, cancel waits until it
// returns.
func (k *key) onRevoke(cut func()) (cancel func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(k.life, func() { defer close(done); cut() })
	return func() {
		if !stop() {
			<-done
		}
	}
}

type revocableBody struct {
	io.ReadCloser
	by *key
}

func (l revocableBody) Read(b []byte) (int, error) {
	if l.by.life.Err() != nil {
		return 0, errKeyEnded
	}
	n, err := l.ReadCloser.Read(b)
	if l.by.life.Err() != nil {
		return 0, errKeyEnded
	}
	return n, err
}

var errKeyEnded = errors.New("the token for this request has been revoked")

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

// replace keeps the unchanged keys of an earlier keyring valid, and returns the revoked keys.
func (k *keyring) replace(before *keyring) (gone []*key) {
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

// The running time of findKey does not depend on whether the tenant exists.
func (k *keyring) findKey(path string, given [sha256.Size]byte) *key {
	none := &key{} // a key that no token matches
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
