package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"gcity/city"
)

// ErrSilent says that a controller takes connections and answers nothing: its process is stopped, or hangs.
var ErrSilent = errors.New("the controller does not answer")

const (
	// A request is waited for as long as the other end answers anything at all. It is asked after each
	// pingAfter, and has pingLimit to answer.
	pingAfter = time.Second
	pingLimit = 2 * time.Second
	// missedReads and missedWrites are how many pings in a row go unanswered before a request fails.
	missedReads  = 1
	missedWrites = 2 // a write that is given up may still be done
)

// silentError returns the error of a request that got no answer from a process that answers nothing else either.
func (c *Client) silentError(method string) error {
	next := "`gcity status` shows what the files say, `gcity doctor` what to do"
	if method != http.MethodGet {
		next = "it may still carry out the request when it continues; " + next
	}
	return marked{&city.Error{Code: city.Unavailable, Message: "the " + c.whose +
		" does not answer anything, so it is stopped or hangs; " + next}, ErrSilent}
}

// roundTrip sends a request. It fails with ErrSilent as soon as the other end answers nothing any more.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	allowed := missedReads
	if r.Method != http.MethodGet {
		allowed = missedWrites
	}
	// ends with its parent: the body is read under it
	ctx, cancel := context.WithCancelCause(r.Context())
	pings, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for missed := 0; sleep(pings, pingAfter); {
			if c.ping(pings) {
				missed = 0
			} else if missed++; missed >= allowed && pings.Err() == nil {
				cancel(ErrSilent)
				return
			}
		}
	})
	resp, err := c.http.RoundTrip(r.WithContext(ctx))
	stop()
	watch.Wait()
	if err != nil && r.Context().Err() == nil && errors.Is(context.Cause(ctx), ErrSilent) {
		return nil, c.silentError(r.Method)
	}
	return resp, err
}

// ping reports whether the other end answers. Any answer will do, so it asks for nothing that there is.
func (c *Client) ping(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://city/v0", nil)
	if err != nil {
		return false
	}
	resp, err := c.http.RoundTrip(r)
	if err != nil {
		return ctx.Err() == nil // it has ended, which the request itself finds out
	}
	return resp.Body.Close() == nil
}

// sleep waits, and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
