package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// exchange sends a GET request in the caller's goroutine, because the goroutines of http.Transport would cost more than
// the request. If the controller has closed an idle connection, exchange retries once.
func (c *Client) exchange(r *http.Request) (*http.Response, error) {
	conn := c.idleConn.Take()
	if conn == nil {
		return c.roundTrip(r)
	}
	resp, err := c.exchangeOn(conn, r)
	if closedByPeer(err) && r.Context().Err() == nil {
		return c.roundTrip(r)
	}
	return resp, err
}

type reused struct{ net.Conn }

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// exchangeOn sends a request on conn. Closing the response's body keeps conn for the next request if it can be reused,
// and otherwise closes it.
func (c *Client) exchangeOn(conn net.Conn, r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	// a deadline in the past unblocks a read or write
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	in := bufio.NewReader(conn)
	err := r.Write(conn)
	if err == nil {
		err = c.awaitResponse(ctx, conn, in)
	}
	var resp *http.Response
	if err == nil {
		resp, err = http.ReadResponse(in, r)
	}
	if err != nil {
		stop()
		_ = conn.Close()
		return nil, err
	}
	resp.Body = &responseBody{Reader: resp.Body, keep: func(whole bool) {
		if stop() && whole && !resp.Close && in.Buffered() == 0 {
			c.keepIdle(conn)
			return
		}
		_ = conn.Close()
	}}
	return resp, nil
}

func (c *Client) keepIdle(conn net.Conn) {
	if _, used := conn.(reused); !used {
		conn = reused{conn}
	}
	c.idleConn.Put(conn)
	if c.life.Err() != nil { // Close might have run before Put
		c.idleConn.Close()
	}
}

// awaitResponse fails with ErrUnresponsive as soon as the peer stops responding to pings.
func (c *Client) awaitResponse(ctx context.Context, conn net.Conn, in *bufio.Reader) error {
	for missed := (misses{}); ; {
		if err := conn.SetReadDeadline(time.Now().Add(pingAfter)); err != nil {
			return err
		}
		// this call may have overwritten the deadline that is set when ctx ends
		if ctx.Err() != nil {
			return c.endOf(ctx, &missed)
		}
		_, err := in.Peek(1)
		switch {
		case err == nil:
			err = conn.SetReadDeadline(time.Time{})
			return errors.Join(err, ctx.Err())
		case ctx.Err() != nil:
			return c.endOf(ctx, &missed)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case c.ping(ctx):
			missed = misses{}
		default:
			if ctx.Err() == nil && c.hangs(&missed) {
				return c.unresponsiveError(http.MethodGet)
			}
		}
	}
}

// endOf returns why a request ended with its context.
func (c *Client) endOf(ctx context.Context, missed *misses) error {
	if missed.late(ctx) {
		return c.unresponsiveError(http.MethodGet)
	}
	return ctx.Err()
}

type responseBody struct {
	io.Reader
	keep     func(whole bool)
	complete bool
}

func (a *responseBody) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.complete = a.complete || err == io.EOF
	return n, err
}

// Close implements io.Closer. It releases the connection.
func (a *responseBody) Close() error {
	if a.keep != nil {
		a.keep(a.complete)
		a.keep = nil
	}
	return nil
}
