package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"gcity/city"
)

// An attached terminal is a connection that has been upgraded to Protocol. Both sides then send frames. A frame
// consists of a type, the length of the payload (4 bytes, big endian), and the payload. Closing the connection detaches
// the terminal.
const (
	Protocol = "gcity-terminal"

	FrameData   = 'd' // in both directions: input or output of the terminal
	FrameResize = 'r' // to the city: columns and rows, 2 bytes each
	// from the city: empty if the session has ended, otherwise a city.Error as JSON
	FrameEnd = 'e'

	MaxFrame = 64 << 10 // bytes of a payload
)

// Framer reads and writes frames. One goroutine can read while others write.
type Framer struct {
	R  io.Reader
	W  io.Writer
	mu sync.Mutex // protects W, so that frames do not mix
}

// Write sends a payload of any length in as many frames as necessary.
func (f *Framer) Write(kind byte, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		n := min(len(payload), MaxFrame)
		frame := make([]byte, 5, 5+n)
		frame[0] = kind
		binary.BigEndian.PutUint32(frame[1:], uint32(n))
		if _, err := f.W.Write(append(frame, payload[:n]...)); err != nil {
			return err
		}
		if payload = payload[n:]; len(payload) == 0 {
			return nil
		}
	}
}

// Next reads a frame into buf, or into a new buffer if buf is too small.
func (f *Framer) Next(buf []byte) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.R, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > MaxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes exceeds the limit of %d", n, MaxFrame)
	}
	if cap(buf) < int(n) {
		buf = make([]byte, n)
	}
	_, err = io.ReadFull(f.R, buf[:n])
	return head[0], buf[:n], err
}

// Resize sends a new terminal size.
func (f *Framer) Resize(cols, rows int) error {
	var b [4]byte
	binary.BigEndian.PutUint16(b[:2], uint16(cols))
	binary.BigEndian.PutUint16(b[2:], uint16(rows))
	return f.Write(FrameResize, b[:])
}

// ParseResize decodes the payload of a FrameResize. ok is false if it is invalid.
func ParseResize(b []byte) (cols, rows int, ok bool) {
	if len(b) != 4 {
		return 0, 0, false
	}
	cols, rows = int(binary.BigEndian.Uint16(b[:2])), int(binary.BigEndian.Uint16(b[2:]))
	return cols, rows, CheckSize(cols, rows) == nil
}

// CheckSize returns an error if a terminal cannot have this size.
func CheckSize(cols, rows int) error {
	const most = 1<<16 - 1
	if cols < 1 || rows < 1 || cols > most || rows > most {
		return Invalid("invalid terminal size: %d×%d cells", cols, rows)
	}
	return nil
}

// End sends the last frame. A nil error means that the session has ended.
func (f *Framer) End(err error) error {
	if err == nil {
		return f.Write(FrameEnd, nil)
	}
	data, mErr := json.Marshal(ErrorOf(err))
	if mErr != nil || len(data) > MaxFrame {
		data = []byte(`{"code":"unavailable","message":"the terminal failed"}`)
	}
	return f.Write(FrameEnd, data)
}

// ParseEnd returns the error that was passed to End, or io.EOF if it was nil.
func ParseEnd(b []byte) error {
	if len(b) == 0 {
		return io.EOF
	}
	e := new(city.Error)
	if err := json.Unmarshal(b, e); err != nil {
		return fmt.Errorf("the terminal's end message is invalid: %w", err)
	}
	return e
}
