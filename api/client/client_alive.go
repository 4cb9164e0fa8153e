package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
	"gcity/internal/proc"
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
	maxMissed = 2
	// for a peer that works or waits for a processor; these pings must fit into readTimeout
	maxMissedBusy = 6
)

// misses counts the pings that a peer has missed in a row.
type misses struct {
	n      int
	demand time.Duration // proc.Demand of the peer when it last missed a ping
	at     time.Time
}

// hangs counts a missed ping. It reports whether the peer counts as unresponsive.
func (c *Client) hangs(m *misses) bool {
	pid := int(c.peer.Load())
	return m.add(time.Now(), proc.Demand(pid)) || isStopped(pid)
}

func (m *misses) add(now time.Time, demand time.Duration) (hangs bool) {
	limit := maxMissed
	if m.n > 0 && demand-m.demand > now.Sub(m.at)/4 {
		limit = maxMissedBusy
	}
	m.n, m.demand, m.at = m.n+1, demand, now
	return m.n >= limit
}

// late reports whether the peer also counts as unresponsive because the time of a request is over.
func (m *misses) late(ctx context.Context) bool {
	return m.n >= maxMissed && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// isStopped reports whether a signal or a debugger has stopped the process. pid 0 means an unknown process.
func isStopped(pid int) bool {
	if pid <= 0 {
		return false
	}
	st, err := proc.ReadStat(pid)
	return err == nil && (st.State == 'T' || st.State == 't')
}

func (c *Client) unresponsiveError(method string) error {
	more := ""
	if method != http.MethodGet {
		more = "; the process may still carry out the request when it continues"
	}
	return unresponsive(c.serverName, int(c.peer.Load()), more)
}

func unresponsive(serverName string, pid int, more string) error {
	text := "the " + serverName + " does not respond: " + Remedy(serverName, pid) + more
	return taggedError{&city.Error{Code: city.Unavailable, Message: text}, ErrUnresponsive}
}

// Remedy returns why a controller or a supervisor does not respond, and what the user can do about it. pid is 0 if the
// process is unknown.
func Remedy(serverName string, pid int) string {
	start := "start the city again"
	if serverName == SupervisorName {
		start = "run `gcity supervisor start`"
	}
	start += "; the agents keep running, and the next " + serverName + " takes them over"
	if pid <= 0 {
		return "its process hangs or was stopped by a signal; kill the process, then " + start
	}
	switch st, err := proc.ReadStat(pid); {
	case err == nil && st.State == 'T':
		return fmt.Sprintf("its process was stopped by a signal; `kill -CONT %d` resumes it", pid)
	case err == nil && st.State == 't':
		return fmt.Sprintf("a debugger has stopped its process (pid %d); resume it in the "+
			"debugger, or detach the debugger", pid)
	}
	return fmt.Sprintf("its process hangs; run `kill -9 %d`, then %s", pid, start)
}

// roundTrip fails with ErrUnresponsive as soon as the peer stops responding to pings.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	// the context outlives this function, because the body is read later
	ctx, cancel := context.WithCancelCause(r.Context())
	pings, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	var missed misses
	watch.Go(func() {
		for deadline.Pause(pings, pingAfter) {
			if c.ping(pings) {
				missed = misses{}
			} else if pings.Err() == nil && c.hangs(&missed) {
				cancel(ErrUnresponsive)
				return
			}
		}
	})
	resp, err := c.http.RoundTrip(r.WithContext(ctx))
	stop()
	watch.Wait()
	if err != nil && (missed.late(r.Context()) ||
		r.Context().Err() == nil && errors.Is(context.Cause(ctx), ErrUnresponsive)) {
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
