// Package wire is the protocol between a holder and its controllers: messages over a unix socket, and the files of
// a session's folder. Holders outlive upgrades of the controller. So a change needs a new Version, unless the other
// side can ignore it.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is the version of this binary's protocol. A holder of another version is adopted and stopped, but starts
// no new life.
const Version = 1

// MaxMessage is the longest payload of a message, in bytes.
const MaxMessage = 8 << 20

// Kind is the first byte of a message.
type Kind byte

const (
	Ask     Kind = 'q' // a Request, JSON; the first message of a connection
	Begin   Kind = 'b' // the same for a start, see EncodeBegin; to holders of the same build
	Done    Kind = 'd' // success; the payload depends on the request
	Failed  Kind = 'f' // a Failure, JSON
	Exited  Kind = 'x' // a session.Exit, JSON, pushed to held connections
	Output  Kind = 'o' // raw bytes of the terminal
	Reset   Kind = 'r' // a Screen, JSON: drop earlier output; the replay follows, then Live
	Live    Kind = 'l' // the end of the replay; no payload
	Resized Kind = 'z' // a Screen, JSON
	Input   Kind = 'i' // raw bytes for the terminal, from a viewer
	Resize  Kind = 's' // a Screen, JSON, from a viewer
)

// Message is one message. Its payload is only valid until the next read from the same connection.
type Message struct {
	Kind Kind
	Data []byte
}

// Write sends a message in one write: its kind, its length in four bytes, its payload.
func Write(w io.Writer, kind Kind, data []byte) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("a message of %d bytes is over the limit of %d", len(data), MaxMessage)
	}
	_, err := w.Write(AppendMessage(make([]byte, 0, 5+len(data)), kind, data))
	return err
}

// AppendMessage encodes a message of at most MaxMessage bytes.
func AppendMessage(b []byte, kind Kind, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(kind)), uint32(len(data)))
	return append(b, data...)
}

// WriteJSON sends v as JSON.
func WriteJSON(w io.Writer, kind Kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Write(w, kind, data)
}

// Reader reads messages, keeping one buffer for small ones.
type Reader struct {
	r   io.Reader
	buf [512]byte
}

// NewReader returns a Reader that reads no more from r than the next message needs.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads the next message. The error is io.EOF only between two messages.
func (r *Reader) Next() (Message, error) {
	head := r.buf[:5]
	if _, err := io.ReadFull(r.r, head); err != nil {
		return Message{}, err
	}
	kind, n := Kind(head[0]), binary.LittleEndian.Uint32(head[1:])
	if n > MaxMessage {
		return Message{}, fmt.Errorf("a message of %d bytes is over the limit of %d", n, MaxMessage)
	}
	data := r.buf[:]
	if int(n) > len(data) {
		data = make([]byte, n)
	}
	data = data[:n]
	if _, err := io.ReadFull(r.r, data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, err
	}
	return Message{kind, data}, nil
}
