package protocol

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"gcity/internal/recovery"
	"gcity/session"
)

// ClientOptions configures a Client.
type ClientOptions struct {
	Dial   func(ctx context.Context) (net.Conn, error)
	Open   OpenRequest // sent to the helper; the client sets Protocols
	Logger *slog.Logger

	// Broken is called with a panic from the client's goroutine. If Broken is nil, the panic ends the program.
	Broken func(error)
}

// Client is a session.Provider that calls a helper.
type Client struct {
	o     ClientOptions
	http  *http.Client
	exits chan session.Exit
	// see session.Changer
	changes chan struct{}
	end     context.CancelFunc
	wg      recovery.Group

	mu      sync.Mutex
	helper  OpenResponse
	opened  bool   // the current helper process has accepted the open call
	process uint64 // counts the helper processes
}

var _ interface {
	session.Provider
	session.Notifier
	session.Changer
	session.Attacher
	session.Watcher
	session.Keyer
	session.PoliteSender
	session.Looker
	session.Patient
	session.Marker
	session.Meter
	session.Clearer
	session.Capturer
	session.Checker
	session.Dismisser
	session.Acknowledger
	session.Limiter
} = (*Client)(nil)

// NewClient returns a client and makes the open call. It fails if the helper rejects the call or does not respond
// before ctx ends.
func NewClient(ctx context.Context, o ClientOptions) (*Client, error) {
	o.Open.Protocols = []int{Version}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o, exits: make(chan session.Exit, exitsKept), changes: make(chan struct{}, 1)}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) }
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:         dial,
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, DisableCompression: true,
	}}
	c.wg.OnPanic = recovery.Fatal(o.Broken)
	if err := c.open(ctx); err != nil {
		c.http.CloseIdleConnections()
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	c.end = end
	c.wg.Go(func() { c.followExits(life) })
	return c, nil
}

// Close ends the client's connections to the helper. The sessions keep running.
func (c *Client) Close() {
	c.end()
	c.wg.Wait()
	c.http.CloseIdleConnections()
}

// Lost notifies the client that the helper has exited. Before its next call, the client sends an open call to the new
// helper process.
func (c *Client) Lost() {
	c.mu.Lock()
	c.opened = false
	c.process++
	c.mu.Unlock()
	c.http.CloseIdleConnections()
}

// open sends an open call, unless the current helper process has accepted one. If that process exits in the meantime,
// open tries again.
func (c *Client) open(ctx context.Context) error {
	for {
		c.mu.Lock()
		opened, process := c.opened, c.process
		c.mu.Unlock()
		if opened {
			return nil
		}
		var response OpenResponse
		if err := c.roundTrip(ctx, "open", c.o.Open, &response); err != nil {
			return err
		}
		if response.Protocol != Version {
			return fmt.Errorf("the helper uses version %d of the session protocol, but gcity "+
				"uses %d: install a matching helper", response.Protocol, Version)
		}
		c.mu.Lock()
		if c.process == process {
			c.helper, c.opened = response, true
		}
		c.mu.Unlock()
	}
}

// post returns an error for a status other than 200 or 101. The caller must close the body.
func (c *Client) post(ctx context.Context, op string, body any) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request for %s: %w", op, err)
	}
	at := "http://helper/v1/" + op
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if until, ok := ctx.Deadline(); ok {
		r.Header.Set(TimeoutHeader, strconv.FormatInt(max(1, time.Until(until).Milliseconds()), 10))
	}
	if op == "start" {
		r.Header.Set("Accept", linesType)
	}
	if op == "attach" {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", Upgrade)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, unreachable(ctx, op, err)
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refusal(op, resp)
}

func unreachable(ctx context.Context, op string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("the helper did not respond to %s: %w", op, cause)
	}
	if u, ok := errors.AsType[*url.Error](err); ok { // its URL means nothing to users
		err = u.Err
	}
	return fmt.Errorf("the helper did not respond to %s: %w", op, err)
}

func refusal(op string, resp *http.Response) error {
	var response Response
	err := json.NewDecoder(io.LimitReader(resp.Body, maxMessage)).Decode(&response)
	if err != nil || response.Error == nil {
		return notProtocol(op, resp)
	}
	return known(response.Error)
}

func known(e *Error) error {
	if e.Kind != "unsupported" {
		return e
	}
	for a, name := range abilities() {
		if name == e.Ability {
			return &session.LackError{Ability: a, Why: ""}
		}
	}
	return e
}

func notProtocol(op string, resp *http.Response) error {
	return fmt.Errorf("the helper's response to %s (%s) does not follow the "+
		"session protocol", op, resp.Status)
}

func (c *Client) roundTrip(ctx context.Context, op string, body, response any) error {
	resp, err := c.post(ctx, op, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMessage)).Decode(response); err != nil {
		return fmt.Errorf("cannot read the helper's response to %s: %w", op,
			cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

func (c *Client) call(ctx context.Context, op string, body any) (Response, error) {
	var response Response
	if err := c.open(ctx); err != nil {
		return response, err
	}
	err := c.roundTrip(ctx, op, body, &response)
	return response, err
}

func (c *Client) do(ctx context.Context, op string, t Target) error {
	_, err := c.call(ctx, op, t)
	return err
}

// Limits implements session.Limiter.
func (c *Client) Limits() session.Limits {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := session.Limits{Why: c.helper.Why}
	for a, name := range abilities() {
		if slices.Contains(c.helper.Lacks, name) {
			out.Lacks = append(out.Lacks, a)
		}
	}
	slices.Sort(out.Lacks)
	return out
}

const patience = session.CheckLimit

// Patience implements session.Patient.
func (c *Client) Patience(string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(time.Duration(c.helper.Patience)*time.Millisecond, patience)
}

// Name returns the name that the helper reports for itself.
func (c *Client) Name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.helper.Name, "session helper")
}

// Start implements session.Provider.
func (c *Client) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	if err := c.open(ctx); err != nil {
		return session.Status{}, session.Missing(err) // the helper did not receive the request
	}
	resp, err := c.post(ctx, "start", s)
	if err != nil {
		return session.Status{}, err
	}
	defer resp.Body.Close()
	in := json.NewDecoder(io.LimitReader(resp.Body, maxMessage))
	for {
		var line StartLine
		if err := in.Decode(&line); err != nil {
			return session.Status{}, unreachable(ctx, "start", err)
		}
		switch {
		case line.Error != nil:
			return session.Status{}, known(line.Error)
		case line.Session != nil:
			return localTimes(line.Session), nil
		case line.Waits == "":
			return one(Response{}, "start")
		}
		session.Progress(ctx, line.Waits)
	}
}

func one(a Response, op string) (session.Status, error) {
	if a.Session == nil {
		return session.Status{}, fmt.Errorf("the helper's response to %s does not "+
			"contain a session", op)
	}
	return localTimes(a.Session), nil
}

// Interrupt implements session.Provider.
func (c *Client) Interrupt(ctx context.Context, name string) error {
	return c.do(ctx, "interrupt", Target{Name: name})
}

// Stop implements session.Provider.
func (c *Client) Stop(ctx context.Context, name string, grace time.Duration) error {
	return c.do(ctx, "stop", Target{Name: name, Grace: int64(grace), Force: session.Forced(ctx)})
}

// List implements session.Provider.
func (c *Client) List(ctx context.Context) ([]session.Status, error) {
	response, err := c.call(ctx, "list", Target{})
	if err != nil {
		return nil, err
	}
	out := response.Sessions
	for i := range out {
		localTimes(&out[i])
	}
	session.Order(out)
	if len(response.Unknown) == 0 {
		return out, nil
	}
	partial := &session.PartialError{Unknown: map[string]error{}}
	for name, why := range response.Unknown {
		partial.Unknown[name] = errors.New(why)
	}
	return out, partial
}

// Send implements session.Provider.
func (c *Client) Send(ctx context.Context, name, text string) error {
	return c.do(ctx, "send", Target{Name: name, Text: text})
}

// SendPolitely implements session.PoliteSender.
func (c *Client) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	return c.do(ctx, "send", Target{Name: name, Text: text, Quiet: new(int64(quiet))})
}

// Output implements session.Provider.
func (c *Client) Output(ctx context.Context, name string, n int) (string, error) {
	response, err := c.call(ctx, "output", Target{Name: name, Lines: n})
	return response.Text, err
}

// Look implements session.Looker.
func (c *Client) Look(ctx context.Context, name string) (session.Status, error) {
	response, err := c.call(ctx, "look", Target{Name: name})
	if err == nil {
		return one(response, "look")
	}
	if !errors.Is(err, session.ErrUnsupported) {
		return session.Status{}, err
	}
	all, err := c.List(ctx)
	if err != nil {
		return session.Status{}, err
	}
	return session.Named(all, name)
}

// SendKeys implements session.Keyer.
func (c *Client) SendKeys(ctx context.Context, name string, keys ...string) error {
	return c.do(ctx, "keys", Target{Name: name, Keys: keys})
}

// SetMeta implements session.Marker.
func (c *Client) SetMeta(ctx context.Context, name, key, value string) error {
	return c.do(ctx, "mark", Target{Name: name, Key: key, Value: value})
}

// Meta implements session.Marker.
func (c *Client) Meta(ctx context.Context, name, key string) (string, error) {
	response, err := c.call(ctx, "meta", Target{Name: name, Key: key})
	return response.Text, err
}

// Usage implements session.Meter.
func (c *Client) Usage(ctx context.Context) (map[string]session.Usage, error) {
	response, err := c.call(ctx, "usage", Target{})
	if err != nil {
		return nil, err
	}
	return response.Usage, nil
}

// Clear implements session.Clearer.
func (c *Client) Clear(ctx context.Context, name string) error {
	return c.do(ctx, "clear", Target{Name: name})
}

// Capture implements session.Capturer.
func (c *Client) Capture(ctx context.Context, name, id string) ([]byte, error) {
	response, err := c.call(ctx, "capture", Target{Name: name, ID: id})
	return response.Data, err
}

// Check implements session.Checker.
func (c *Client) Check(ctx context.Context) error { return c.do(ctx, "check", Target{}) }

// Dismiss implements session.Dismisser.
func (c *Client) Dismiss(ctx context.Context) error { return c.do(ctx, "dismiss", Target{}) }

// Acknowledge implements session.Acknowledger.
func (c *Client) Acknowledge(ctx context.Context, name, id string) error {
	return c.do(ctx, "acknowledge", Target{Name: name, ID: id})
}
