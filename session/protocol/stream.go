package protocol

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"gcity/session"
)

const (
	exitsKept  = 1024
	beat       = 15 * time.Second // how often an idle stream sends an empty line
	writeLimit = 30 * time.Second
)

func (s *Server) followExits(p session.Provider) {
	n, ok := p.(session.Notifier)
	if !ok {
		return
	}
	var changes <-chan struct{}
	if c, ok := p.(session.Changer); ok {
		changes = c.Changes()
	}
	s.wg.Go(func() {
		for {
			line := ExitLine{Changed: true}
			select {
			case x, ok := <-n.Exits():
				if !ok {
					return
				}
				line = ExitLine{Exit: &x}
			case <-changes:
			}
			s.publish(line)
		}
	})
}

// publish sends a line to all exit streams. It closes a stream if its reader is too slow. The client then reconnects
// and lists the sessions.
func (s *Server) publish(line ExitLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.subs {
		select {
		case sub <- line:
		default:
			delete(s.subs, sub)
			close(sub)
		}
	}
}

func (s *Server) serveExits(w http.ResponseWriter, r *http.Request) {
	if _, err := s.provider(); err != nil {
		fail(w, err)
		return
	}
	sub := make(chan ExitLine, exitsKept)
	s.mu.Lock()
	s.subs[sub] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, sub)
	}()
	out := newLines(w)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	// an empty first line confirms that the stream receives all later exits
	line := ExitLine{}
	for out.put(line) {
		var ok bool
		select {
		case line, ok = <-sub:
			if !ok {
				return
			}
		case <-tick.C:
			line = ExitLine{}
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	var t Target
	made, ok := s.begin(w, r, &t)
	if !ok {
		return
	}
	watcher, ok := made.Provider.(session.Watcher)
	if !ok {
		fail(w, &session.LackError{Ability: session.Watching})
		return
	}
	var out *lines
	for f, err := range watcher.Watch(r.Context(), t.Name) {
		switch {
		case err != nil && out == nil:
			fail(w, err)
			return
		case out == nil:
			out = newLines(w)
		}
		line := Frame{Reset: f.Reset, Cols: f.Cols, Rows: f.Rows, Data: f.Data, Dropped: f.Dropped}
		if err != nil {
			line.Error, _ = wireError(err)
		}
		if !out.put(line) || err != nil {
			return
		}
	}
	if out == nil {
		newLines(w)
	}
}

const linesType = "application/x-ndjson"

type lines struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
}

func newLines(w http.ResponseWriter) *lines {
	w.Header().Set("Content-Type", linesType)
	w.WriteHeader(http.StatusOK)
	return &lines{w: w, ctl: http.NewResponseController(w)}
}

func (l *lines) put(v any) bool {
	data, err := json.Marshal(v)
	if err != nil || l.ctl.SetWriteDeadline(time.Now().Add(writeLimit)) != nil {
		return false
	}
	if _, err := l.w.Write(append(data, '\n')); err != nil {
		return false
	}
	return l.ctl.Flush() == nil
}

func (s *Server) serveAttach(w http.ResponseWriter, r *http.Request) {
	var t Target
	made, ok := s.begin(w, r, &t)
	if !ok {
		return
	}
	attacher, ok := made.Provider.(session.Attacher)
	if !ok {
		fail(w, &session.LackError{Ability: session.Attaching})
		return
	}
	ctx, cancel := callContext(r)
	term, err := attacher.Attach(ctx, t.Name, t.Cols, t.Rows)
	cancel()
	if err != nil {
		fail(w, err)
		return
	}
	defer term.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, err)
		return
	}
	defer conn.Close()
	const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
	if _, err := rw.WriteString(head + Upgrade + "\r\n\r\n"); err != nil || rw.Flush() != nil {
		return
	}
	s.wg.Go(func() {
		defer term.Close()
		fromViewer(rw.Reader, term)
	})
	toViewer(conn, term)
}

func fromViewer(r *bufio.Reader, term session.Terminal) {
	buf := make([]byte, frameMax)
	for {
		kind, data, err := readFrame(r, buf)
		switch {
		case err != nil:
			return
		case kind == frameData:
			if _, err := term.Write(data); err != nil {
				return
			}
		case kind == frameResize && len(data) == 4:
			if term.Resize(
				int(binary.BigEndian.Uint16(data)),
				int(binary.BigEndian.Uint16(data[2:])),
			) != nil {
				return
			}
		}
	}
}

// toViewer copies the output to the viewer. After the viewer has disconnected, toViewer discards the output until
// fromViewer has read the rest of the viewer's input.
func toViewer(conn net.Conn, term session.Terminal) {
	buf := make([]byte, frameMax/2)
	put := func(kind byte, data []byte) error {
		_ = conn.SetWriteDeadline(time.Now().Add(writeLimit)) // fails only if conn is closed
		return writeFrame(conn, kind, data)
	}
	for {
		n, err := term.Read(buf)
		if n > 0 {
			if err := put(frameData, buf[:n]); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					_, _ = io.Copy(io.Discard, term) // no viewer needs the error
				}
				return
			}
		}
		if err == nil {
			continue
		}
		var why []byte
		if !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
			e, _ := wireError(err)
			why, _ = json.Marshal(e)
		}
		_ = put(frameEnd, why) // fails if the viewer has disconnected
		return
	}
}
