package tmux

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

// invitation is what the process in a new pane is told. It answers with nothing, by becoming the agent, or with why
// not.
type invitation struct {
	Spec       session.Spec `json:"spec"`
	Dir        string       `json:"dir"` // the session's
	Pane       string       `json:"pane"`
	Cols, Rows int
	Boot       string
	Ready      bool // nothing has to be settled
}

// refusal is why a process could not become an agent.
type refusal struct {
	Own     bool   `json:"own"` // of the agent's own doing: command, folder, permissions
	Message string `json:"message"`
}

// letIn tells the process in the pane what it is, and waits until it has become that.
func (p *Provider) letIn(ctx context.Context, s *session.Spec, in invitation, pid int,
	arrival <-chan *net.UnixConn) (rec record, err error) {
	gone := make(chan struct{})
	if st, err := proc.ReadStat(pid); err != nil {
		close(gone)
	} else if w, err := proc.Watch(pid, st.Start); err != nil {
		close(gone)
	} else {
		defer w.Close()
		p.async(func() {
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
			return rec, errors.New("the process in its pane ends before it says " +
				"a word: is " + p.binary + " still there?")
		}
	case <-ctx.Done():
		return rec, fmt.Errorf("the process in its pane does not come up: %w", context.Cause(ctx))
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if err := json.NewEncoder(conn).Encode(in); err != nil {
		return rec, fmt.Errorf("the process in its pane does not listen: %w", err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 64<<10))
	if err != nil {
		return rec, fmt.Errorf("the process in its pane does not become the agent: %w", err)
	}
	if len(answer) > 0 {
		var no refusal
		if err := json.Unmarshal(answer, &no); err != nil {
			return rec, fmt.Errorf("the process in its pane says what nobody understands: %w", err)
		}
		kind := errOther
		if no.Own {
			kind = session.ErrCommand
		}
		return rec, fail("start", s.Name, kind, "%s", no.Message)
	}
	rec, _, ok := p.recall(s.Name)
	if !ok || rec.ID != s.ID {
		return rec, errors.New("the process in its pane was ended before it became the agent")
	}
	return rec, nil
}

// openDoor opens the socket at which the processes in new panes ask what they are. Each provider has one of its own.
func (p *Provider) openDoor() error {
	p.sweepDoors()
	path, err := disk.SocketPath(filepath.Join(p.dir, "door-"+rand.Text()[:10]))
	if err != nil {
		return err
	}
	p.doorAt = path
	if p.door, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
		return err
	}
	p.async(p.attend)
	return nil
}

// sweepDoors removes the doors of controllers that were killed.
func (p *Provider) sweepDoors() {
	doors, err := filepath.Glob(filepath.Join(p.dir, "door-*"))
	if err != nil {
		return
	}
	for _, door := range doors {
		if conn, err := net.Dial("unix", disk.FindSocket(door)); err == nil {
			conn.Close()
			continue
		}
		disk.Remove(door)
	}
}

// attend takes in whoever comes to the door, and hands him to the start that waits for him.
func (p *Provider) attend() {
	for {
		conn, err := p.door.AcceptUnix()
		if err != nil {
			return
		}
		p.async(func() {
			conn.SetDeadline(time.Now().Add(doorTimeout))
			defer context.AfterFunc(p.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
			id, err := readLine(conn)
			p.mu.Lock()
			waiting := p.expected[id]
			delete(p.expected, id) // one comes
			p.mu.Unlock()
			if err != nil || waiting == nil {
				conn.Close()
				return
			}
			waiting <- conn
		})
	}
}

// readLine reads one line and not a byte more.
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
