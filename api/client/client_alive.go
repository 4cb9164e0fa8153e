package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"gcity/city"
)

// ErrUnresponsive means that a controller accepts connections but does not respond, because its process is stopped or
// hangs.
var ErrUnresponsive = errors.New("the controller does not respond")

const (
	// A request waits as long as the peer responds to pings. A ping is sent every pingAfter, with the timeout
	// pingLimit.
	pingAfter = time.Second
	pingLimit = 2 * time.Second
	// more than one, because a ping can exceed its timeout on a busy machine
	missedPings = 2
)

func (c *Client) unresponsiveError(method string) error {
	next := "`gcity status` shows the state from files, and `gcity doctor` shows what to do"
	if method != http.MethodGet {
		next = "the process may still carry out the request when it continues; " + next
	}
	return taggedError{&city.Error{Code: city.Unavailable, Message: "the " + c.serverName +
		" does not respond: its process hangs or was stopped by a signal; " + next},
		ErrUnresponsive}
}

// roundTrip fails with ErrUnresponsive as soon as the peer stops responding to pings.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	// the context outlives this function, because the body is read later
	ctx, cancel := context.WithCancelCause(r.Context())
	pings, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for missed := 0; sleep(pings, pingAfter); {
			if c.ping(pings) {
				missed = 0
			} else if missed++; missed >= missedPings && pings.Err() == nil {
				cancel(ErrUnresponsive)
				return
			}
		}
	})
	resp, err := c.http.RoundTrip(r.WithContext(ctx))
	stop()
	watch.Wait()
	if err != nil && r.Context().Err() == nil && errors.Is(context.Cause(ctx), ErrUnresponsive) {
		return nil, c.unresponsiveError(r.Method)
	}
	return resp, err
}

// ping requests a path that does not exist, because any response will do.
func (c *Client) ping(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://city/v0", nil)
	if err != nil {
		return false
	}
	resp, err := c.http.RoundTrip(r)
	if err != nil {
		// only a timeout is a missed ping; after any other error, the caller's request fails too
		return ctx.Err() == nil
	}
	return resp.Body.Close() == nil
}

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
