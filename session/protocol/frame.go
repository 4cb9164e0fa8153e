package protocol

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Frame types on the connection of an attached terminal. A frame consists of a type (one byte), a length (four bytes,
// big endian) and a payload.
const (
	frameData = 1
	// from the viewer: the numbers of columns and rows, two bytes each (big endian)
	frameResize = 2
	// the helper's last frame: an Error as JSON, or empty if the terminal has ended
	frameEnd = 3

	frameMax    = 64 << 10
	frameHeader = 5
)

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	buf := make([]byte, frameHeader, frameHeader+len(payload))
	buf[0] = kind
	binary.BigEndian.PutUint32(
		buf[1:],
		uint32(len(payload)),
	) //nolint:gosec // G115: callers send at most frameMax
	_, err := w.Write(append(buf, payload...))
	return err
}

// readFrame reads a frame into buf, which must have frameMax bytes. The next call overwrites the payload.
func readFrame(r io.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > frameMax {
		return 0, nil, fmt.Errorf("a frame of %d bytes exceeds the limit of %d", n, frameMax)
	}
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		return 0, nil, err
	}
	return head[0], buf[:n], nil
}
