package protocol

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The frames of an attached terminal: one byte of type, four bytes of length (big endian), the payload.
const (
	frameData   = 1 // bytes of the terminal, both ways
	frameResize = 2 // from the viewer: columns and rows, two bytes each (big endian)
	frameEnd    = 3 // from the helper, the last one: a JSON Error, or nothing at the end

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

// readFrame reads a frame. The payload is only valid until the next call with the same buffer, which has frameMax
// bytes.
func readFrame(r io.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > frameMax {
		return 0, nil, fmt.Errorf("a frame of %d bytes is over the limit of %d", n, frameMax)
	}
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		return 0, nil, err
	}
	return head[0], buf[:n], nil
}
