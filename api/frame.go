package api

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"gcity/city"
)

// An attached terminal is a connection that has been upgraded to upgradeTo. Both sides then send frames: a type, the
// payload's length in 4 bytes, most significant first, the payload. Closing the connection detaches.
const (
	upgradeTo = "gcity-terminal"

	frameData   = 'd' // both ways: the terminal's bytes
	frameResize = 'r' // to the city: columns and rows, 2 bytes each
	// from the city: the session has ended, or a city.Error as JSON says what has happened
	frameEnd = 'e'

	maxFrame = 64 << 10
)

// framer writes and reads frames. One goroutine may read while others write.
type framer struct {
	r  io.Reader
	w  io.Writer
	mu sync.Mutex // of w
}

func (f *framer) write(kind byte, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		n := min(len(payload), maxFrame)
		frame := make([]byte, 5, 5+n)
		frame[0] = kind
		binary.BigEndian.PutUint32(frame[1:], uint32(n))
		if _, err := f.w.Write(append(frame, payload[:n]...)); err != nil {
			return err
		}
		if payload = payload[n:]; len(payload) == 0 {
			return nil
		}
	}
}

// next reads a frame into buf, which is grown as needed.
func (f *framer) next(buf []byte) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes is over the limit of %d", n, maxFrame)
	}
	if cap(buf) < int(n) {
		buf = make([]byte, n)
	}
	_, err = io.ReadFull(f.r, buf[:n])
	return head[0], buf[:n], err
}

func (f *framer) resize(cols, rows int) error {
	var b [4]byte
	binary.BigEndian.PutUint16(b[:2], uint16(cols))
	binary.BigEndian.PutUint16(b[2:], uint16(rows))
	return f.write(frameResize, b[:])
}

func parseResize(b []byte) (cols, rows int, ok bool) {
	if len(b) != 4 {
		return 0, 0, false
	}
	cols, rows = int(binary.BigEndian.Uint16(b[:2])), int(binary.BigEndian.Uint16(b[2:]))
	return cols, rows, checkSize(cols, rows) == nil
}

func checkSize(cols, rows int) error {
	const most = 1<<16 - 1
	if cols < 1 || rows < 1 || cols > most || rows > most {
		return invalid("no terminal is %d×%d cells", cols, rows)
	}
	return nil
}

// end tells the other side why there is no more; nil = the session has ended.
func (f *framer) end(err error) error {
	if err == nil {
		return f.write(frameEnd, nil)
	}
	data, mErr := json.Marshal(asError(err))
	if mErr != nil || len(data) > maxFrame {
		data = []byte(`{"code":"unavailable","message":"the terminal failed"}`)
	}
	return f.write(frameEnd, data)
}

// parseEnd gives what end was told; io.EOF for nil.
func parseEnd(b []byte) error {
	if len(b) == 0 {
		return io.EOF
	}
	e := new(city.Error)
	if err := json.Unmarshal(b, e); err != nil {
		return fmt.Errorf("the terminal's end is not understood: %w", err)
	}
	return e
}
