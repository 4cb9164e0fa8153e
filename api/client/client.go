// Package client implements clients for a city, and for all cities of a supervisor, over a unix socket.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gcity/api/gascity"
	"gcity/api/socket"
	"gcity/api/wire"
	"gcity/city"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/shell"
)

// ErrNotRunning means that no process listens on a city's socket. After a city has stopped, errors from its Client also
// wrap ErrNotRunning.
var ErrNotRunning = errors.New("not running")

// ErrEnded means that a controller exited or closed the connection before it responded to a request.
var ErrEnded = errors.New("the controller exited before it responded")

const (
	dialTimeout = 2 * time.Second
	// how long a read-only request waits for the response and for each part of it, unless the
	// context has an earlier deadline
	readTimeout = 30 * time.Second
	doTimeout   = 10 * time.Minute
	maxResponse = 256 << 20
)

// Client is a client for a running city, over the city's socket.
type Client struct {
	path       string
	serverName string        // ControllerName or SupervisorName
	peer       *atomic.Int32 // pid of the process that listens on the socket; 0 = unknown
	below      string        // the city's path on the socket: "/v0", "/v0/city/NAME"
	http       *http.Transport
	idleConn   disk.IdleConn
	life       context.Context
	end        context.CancelFunc
}

var _ city.Control = (*Client)(nil)

// Dial connects to the city with this socket (see disk.SocketPath). It fails with ErrNotRunning if no process listens
// there.
func Dial(path string) (*Client, error) { return dialFor(ControllerName, path) }

// The names of servers in messages.
const (
	ControllerName = "controller"
	SupervisorName = "supervisor"
)

func dialFor(serverName, path string) (*Client, error) {
	c := &Client{path: path, serverName: serverName, peer: new(atomic.Int32), below: "/v0",
		idleConn: disk.NewIdleConn()}
	c.life, c.end = context.WithCancel(context.Background())
	c.http = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.connect(ctx)
		},
		DisableCompression: true,
		IdleConnTimeout:    wire.IdleTimeout / 2,
		MaxIdleConns:       8,
	}
	conn, err := c.dial(context.Background())
	if err != nil {
		c.end()
		return nil, err
	}
	c.idleConn.Put(conn)
	return c, nil
}

// connect returns the connection that Dial opened if no request has used it yet, or a new one. It does not return a
// used connection, because the transport would not retry a request on it.
func (c *Client) connect(ctx context.Context) (net.Conn, error) {
	if conn := c.idleConn.Take(); conn != nil {
		if _, used := conn.(reused); !used {
			return conn, nil
		}
		_ = conn.Close()
	}
	return c.dial(ctx)
}

// Close ends all of the client's streams and terminals. Later calls fail.
func (c *Client) Close() error {
	c.end()
	c.idleConn.Close()
	c.http.CloseIdleConnections()
	return nil
}

type taggedError struct{ err, tag error }

func (m taggedError) Error() string   { return m.err.Error() }
func (m taggedError) Unwrap() []error { return []error{m.err, m.tag} }

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	soon, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := disk.DialSocket(soon, c.path)
	switch {
	case err == nil:
		pid, err := socket.OwnPeer(conn, c.path)
		if err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("cannot use %s: %w", c.path, err)
		}
		c.peer.Store(pid)
		return conn, nil
	case ctx.Err() == nil && soon.Err() != nil:
		return nil, c.unresponsiveError(http.MethodGet)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED),
		errors.Is(err, syscall.ENOTDIR):
		return nil, taggedError{&city.NotRunning{Program: c.serverName, Socket: c.path},
			ErrNotRunning}
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("cannot reach the city: %w; %s", err, c.access())
	}
	return nil, fmt.Errorf("cannot reach the city: %w", err)
}

// access returns what the user can do if the system denies access to the socket.
func (c *Client) access() string {
	folder := filepath.Dir(c.path)
	if disk.Own(folder) != nil || disk.Foreign(c.path) {
		return "run this command as the owner of " + folder
	}
	return fmt.Sprintf("run `chmod u+rwx %s %s`", shell.Quote(folder), shell.Quote(c.path))
}

func (c *Client) target(path string) string {
	return "http://city" + c.below + strings.TrimPrefix(path, "/v0")
}

// request sends a request. The caller must close the response.
func (c *Client) request(ctx context.Context, what request) (*http.Response, error) {
	if c.life.Err() != nil {
		return nil, city.Errorf(city.Unavailable, "the connection to the city is closed")
	}
	target := c.target(what.path)
	if len(what.query) > 0 {
		target += "?" + what.query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, what.method, target, bytes.NewReader(what.body))
	if err != nil {
		return nil, wire.Invalid("cannot request %s: %v", what.path, err)
	}
	if len(what.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	send := c.roundTrip
	if what.method == http.MethodGet && !what.stream {
		send = c.exchange
	}
	resp, err := send(r)
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, errorResponse(resp)
	}
	return resp, nil
}

func (c *Client) failed(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*city.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := city.Errorf(city.Unavailable, "the city's controller does not respond: %v", err)
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			e.Message = "the " + c.serverName + " closed the connection"
			return taggedError{e, ErrEnded}
		}
	}
	if strings.Contains(err.Error(), closedIdle) {
		return taggedError{e, ErrEnded}
	}
	return e
}

// closedIdle is the text of an error that net/http does not export.
const closedIdle = "server closed idle connection"

func errorResponse(resp *http.Response) error {
	e := new(city.Error)
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(data, e) != nil || e.Code == "" {
		return city.Errorf(city.Unavailable, "the city's controller responded "+
			"with %s", resp.Status)
	}
	return e
}

type request struct {
	method, path string
	query        url.Values
	body         []byte
	stream       bool
}

func (c *Client) get(ctx context.Context, path string, q url.Values, into any) error {
	return c.call(ctx, request{method: http.MethodGet, path: path, query: q}, into)
}

func (c *Client) call(ctx context.Context, what request, into any) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, doTimeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	var late *time.Timer
	if what.method == http.MethodGet {
		late = time.AfterFunc(readTimeout, cancel)
		defer late.Stop()
	}
	resp, err := c.request(ctx, what)
	if err == nil {
		defer resp.Body.Close()
		body := io.LimitReader(arriving{resp.Body, late}, maxResponse)
		if err = json.NewDecoder(body).Decode(into); err != nil {
			err = c.failed(ctx, err)
		}
	}
	if err != nil && ctx.Err() != nil && caller.Err() == nil {
		return city.Errorf(city.Unavailable, "the city's controller did not respond in time")
	}
	return err
}

// arriving is a response's body. Each part of it restarts the timer, because a large response takes long on a busy
// machine.
type arriving struct {
	io.Reader
	late *time.Timer // nil = no timer
}

func (a arriving) Read(p []byte) (n int, err error) {
	if n, err = a.Reader.Read(p); n > 0 && a.late != nil {
		a.late.Reset(readTimeout)
	}
	return n, err
}

// Snapshot implements city.Control.
func (c *Client) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	return c.snapshot(ctx, nil)
}

func (c *Client) snapshot(ctx context.Context, q url.Values) (*city.Snapshot, error) {
	snap := new(city.Snapshot)
	if err := c.get(ctx, "/v0/snapshot", q, snap); err != nil {
		return nil, err
	}
	return snap, nil
}

// object requests an object, or the part of it that what selects; see wire.Path.
func (c *Client) object(ctx context.Context, noun wire.Kind, target string, what wire.Kind,
	into any) error {
	path, err := wire.Path(noun, target, what)
	if err != nil {
		return err
	}
	return c.get(ctx, path, nil, into)
}

// Agent returns one agent by its qualified name. This is cheaper than a snapshot.
func (c *Client) Agent(ctx context.Context, name string) (*city.Agent, error) {
	var a wire.Agent
	if err := c.object(ctx, wire.KindAgent, name, "", &a); err != nil {
		return nil, err
	}
	if a.Name != name {
		return nil, city.Errorf(city.Unavailable, "the city's controller returned agent %[2]q "+
			"instead of %[1]q", name, a.Name)
	}
	if a.CPU != nil && a.RSS != nil {
		a.Agent.Usage = &city.Usage{CPU: *a.CPU, RSS: *a.RSS, Procs: a.Procs}
	}
	return &a.Agent, nil
}

// Inspect implements city.Control.
func (c *Client) Inspect(ctx context.Context, name string) (*city.Inspection, error) {
	about := new(city.Inspection)
	if err := c.object(ctx, wire.KindAgent, name, wire.KindInspect, about); err != nil {
		return nil, err
	}
	return about, nil
}

// Output implements city.Control.
func (c *Client) Output(ctx context.Context, name string, lines int) (string, error) {
	path, err := wire.Path(wire.KindAgent, name, wire.KindOutput)
	if err != nil {
		return "", err
	}
	q := url.Values{}
	if lines > 0 {
		q.Set("lines", strconv.Itoa(min(lines, wire.MaxLines)))
	}
	var a gascity.Output
	if err := c.get(ctx, path, q, &a); err != nil {
		return "", err
	}
	var text string
	for _, t := range a.Turns {
		text += t.Text
	}
	return text, nil
}

// History implements city.Control.
func (c *Client) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	v := url.Values{"type": q.Types}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("actor", q.Actor)
	set("subject", q.Subject)
	if !q.Since.IsZero() {
		set("since", q.Since.Format(time.RFC3339Nano))
	}
	if q.After > 0 {
		set("after_seq", strconv.FormatUint(q.After, 10))
	}
	if q.Before > 0 {
		set("before_seq", strconv.FormatUint(q.Before, 10))
	}
	switch {
	case q.Forward:
		set("forward", "true")
	case !q.Since.IsZero():
		set("order", "desc")
	}
	if q.Limit > 0 {
		set("limit", strconv.Itoa(min(q.Limit, wire.MaxLines)))
	}
	var page gascity.List[events.Event]
	err := c.get(ctx, "/v0/events", v, &page)
	return page.Items, err
}
