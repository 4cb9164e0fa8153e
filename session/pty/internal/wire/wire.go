// Package wire defines the protocol between a holder and its controllers: messages over a unix socket, and
// files in the session's folder. A holder may be older than the controller. So a change needs a new Version,
// unless the other side may ignore it.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is the protocol version. A holder with a different version is adopted and can be stopped, but it
// cannot start another life.
const Version = 1

// MaxMessage is the maximum size of a message's payload in bytes.
const MaxMessage = 8 << 20

// Kind is the kind of a message, which is its first byte.
type Kind byte

const (
	Ask    Kind = 'q' // a Request as JSON; the first message of a connection
	Begin  Kind = 'b' // a request to start, see EncodeBegin; only for holders of the same build
	Done   Kind = 'd' // success; the payload depends on the request
	Failed Kind = 'f' // a Failure as JSON
	Exited Kind = 'x' // an Exit as JSON, pushed to permanent connections
	Output Kind = 'o' // raw output of the terminal
	// a Screen as JSON: the reader must drop all earlier output; the replay follows, then Live
	Reset   Kind = 'r'
	Live    Kind = 'l' // the end of the replay; no payload
	Resized Kind = 'z' // a Screen as JSON
	Input   Kind = 'i' // raw input for the terminal, from a viewer
	Resize  Kind = 's' // a Screen as JSON, from a viewer
)

// Message is a message. The payload is valid until the next message is read from the same connection.
type Message struct {
	Kind Kind
	Data []byte
}

// Write sends a message in one write: its kind, its length in four bytes, and its payload.
func Write(w io.Writer, kind Kind, data []byte) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("a message of %d bytes exceeds the limit of %d", len(data), MaxMessage)
	}
	_, err := w.Write(AppendMessage(make([]byte, 0, 5+len(data)), kind, data))
	return err
}

// AppendMessage appends an encoded message, of at most MaxMessage bytes, to b.
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

// Reader reads messages. It uses one buffer for all small messages.
type Reader struct {
	r   io.Reader
	buf [512]byte
}

// NewReader returns a Reader that never reads more from r than one message.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads the next message. It returns io.EOF only if r ends between two messages.
func (r *Reader) Next() (Message, error) {
	head := r.buf[:5]
	if _, err := io.ReadFull(r.r, head); err != nil {
		return Message{}, err
	}
	kind, n := Kind(head[0]), binary.LittleEndian.Uint32(head[1:])
	if n > MaxMessage {
		return Message{}, fmt.Errorf("a message of %d bytes exceeds the limit of %d", n, MaxMessage)
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
