package tmux

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

// paneTask is the task of the process in a new pane. The process responds only if it fails, because it otherwise
// becomes the agent.
type paneTask struct {
	Spec session.Spec `json:"spec"`
	// replaces fields of Spec that JSON cannot represent, because they are not UTF-8; usually nil
	Raw        *rawSpec `json:"raw,omitempty"`
	Dir        string   `json:"dir"`
	Pane       string   `json:"pane"`
	Cols, Rows int
	Boot       string
	Ready      bool
}

type rawSpec struct {
	Command []byte   `json:"command"`
	Folder  []byte   `json:"folder"`
	Env     [][]byte `json:"env"`
}

func newRaw(s *session.Spec) *rawSpec {
	raw := &rawSpec{Command: []byte(s.Command), Folder: []byte(s.Dir)}
	text := utf8.ValidString(s.Command) && utf8.ValidString(s.Dir)
	for _, kv := range s.Env {
		raw.Env = append(raw.Env, []byte(kv))
		text = text && utf8.ValidString(kv)
	}
	if text {
		return nil
	}
	return raw
}

func (r *rawSpec) restore(s *session.Spec) {
	if r == nil {
		return
	}
	s.Command, s.Dir, s.Env = string(r.Command), string(r.Folder), nil
	for _, kv := range r.Env {
		s.Env = append(s.Env, string(kv))
	}
}

type refusal struct {
	Own       bool   `json:"own"` // the cause is in the agent's own settings
	Exhausted bool   `json:"exhausted,omitempty"`
	Message   string `json:"message"`
}

func refuse(what string, err error) refusal {
	return refusal{Exhausted: proc.Exhausted(err), Message: what + ": " + err.Error()}
}

func (r refusal) kind() error {
	switch {
	case r.Own:
		return session.ErrCommand
	case r.Exhausted:
		return session.ErrExhausted
	}
	return errOther
}

func (p *Provider) startAgent(ctx context.Context, s *session.Spec, in paneTask, pid int,
	arrival <-chan *net.UnixConn) (rec record, err error) {
	gone := make(chan struct{})
	if st, err := proc.ReadStat(pid); err != nil {
		close(gone)
	} else if w, err := proc.Watch(pid, st.Start); err != nil {
		close(gone)
	} else {
		defer w.Close()
		p.reg.Async(func() {
			if w.Wait() == nil {
				close(gone)
			}
		})
	}
	var conn *net.UnixConn
	select {
	case conn = <-arrival:
	case <-gone:
		select {
		case conn = <-arrival:
		default:
			return rec, errors.New("the process in the pane exited before it connected; check " +
				"that " + p.binary + " still exists")
		}
	case <-ctx.Done():
		return rec, fmt.Errorf("the process in the pane did not connect in time: %w",
			context.Cause(ctx))
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(conn).Encode(in); err != nil {
		return rec, fmt.Errorf("cannot send the task to the process in the pane: %w", err)
	}
	response, err := io.ReadAll(io.LimitReader(conn, 64<<10))
	if err != nil {
		return rec, fmt.Errorf("the process in the pane did not become the agent: %w", err)
	}
	if len(response) > 0 {
		var no refusal
		if err := json.Unmarshal(response, &no); err != nil {
			return rec, fmt.Errorf("the process in the pane sent an invalid response: %w", err)
		}
		return rec, fail("start", s.Name, no.kind(), "%s", no.Message)
	}
	rec, _, err = p.files.recall(s.Name)
	if proc.Exhausted(err) {
		return rec, err
	}
	if err != nil || rec.ID != s.ID {
		return rec, errors.New("the process in the pane was killed before it became the agent")
	}
	return rec, nil
}

type listener interface {
	AcceptUnix() (*net.UnixConn, error)
	Close() error
}

type startSocket struct {
	listener listener
	path     string

	mu sync.Mutex
	// starts in progress that are waiting for their process to connect, by session ID
	expected map[string]chan *net.UnixConn
}

func openStartSocket(dir string) (*startSocket, error) {
	sweepSockets(dir)
	path, err := disk.SocketPath(filepath.Join(dir, "door-"+rand.Text()[:10]))
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &startSocket{listener: l, path: path, expected: make(map[string]chan *net.UnixConn)}, nil
}

func (d *startSocket) close() {
	d.listener.Close()
	disk.Remove(d.path)
}

// expect registers a start. arrival receives the connection of its process. cancel removes the start, and closes a
// connection that was not received.
func (d *startSocket) expect(id string) (arrival chan *net.UnixConn, cancel func()) {
	arrival = make(chan *net.UnixConn, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expected[id] = arrival
	return arrival, func() {
		d.mu.Lock()
		delete(d.expected, id)
		d.mu.Unlock()
		select {
		case conn := <-arrival:
			conn.Close()
		default:
		}
	}
}

func (d *startSocket) waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.expected) > 0
}

func sweepSockets(dir string) {
	sockets, err := filepath.Glob(filepath.Join(dir, "door-*"))
	if err != nil {
		return
	}
	for _, socket := range sockets {
		if conn, err := net.Dial("unix", disk.FindSocket(socket)); err == nil {
			conn.Close()
			continue
		}
		disk.Remove(socket)
	}
}

// how long the server waits before it tries again to accept a connection
const acceptFirst, acceptLast = 5 * time.Millisecond, time.Second

// serve accepts connections until the listener is closed.
func (d *startSocket) serve(ctx context.Context, async func(func()) bool, log *slog.Logger) {
	pause := acceptFirst
	for {
		conn, err := d.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example EMFILE
			if pause == acceptFirst {
				log.Error("cannot accept the connection of a new pane; trying again", "err", err)
			}
			deadline.Pause(ctx, pause)
			pause = min(2*pause, acceptLast)
			continue
		}
		pause = acceptFirst
		async(func() {
			conn.SetDeadline(time.Now().Add(taskTimeout))
			defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
			id, err := readLine(conn)
			d.mu.Lock()
			defer d.mu.Unlock()
			waiting := d.expected[id]
			delete(d.expected, id) // each start expects only one connection
			if err != nil || waiting == nil {
				conn.Close()
				return
			}
			// the channel is buffered, so this does not block; cancel takes the lock, so it cannot miss the connection
			waiting <- conn
		})
	}
}

func readLine(r io.Reader) (string, error) {
	var line []byte
	var c [1]byte
	for len(line) < 4096 {
		if _, err := io.ReadFull(r, c[:]); err != nil {
			return "", err
		}
		if c[0] == '\n' {
			return string(line), nil
		}
		line = append(line, c[0])
	}
	return "", errors.New("the line is too long")
}
