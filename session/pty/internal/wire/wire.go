// Package wire defines the protocol between a holder and its controllers: messages on a unix socket, and files in the
// session's folder. A holder can be older than its controller. A change therefore needs a new Version unless the other
// side can safely ignore it.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version is the protocol version. A controller adopts a holder with another version and can stop it, but the holder
// cannot start another session.
const Version = 1

// MaxMessage is the maximum size of a message's payload in bytes.
const MaxMessage = 8 << 20

// Kind is the kind of a message: its first byte.
type Kind byte

const (
	Ask    Kind = 'q' // a Request as JSON; the first message of a connection
	Begin  Kind = 'b' // a start request, see EncodeBegin
	Done   Kind = 'd' // success; the payload depends on the request
	Failed Kind = 'f' // a Failure as JSON
	Exited Kind = 'x' // an Exit as JSON, pushed to permanent connections
	Output Kind = 'o' // raw terminal output
	// a Screen as JSON: the reader drops all earlier output; the replay follows
	Reset   Kind = 'r'
	Live    Kind = 'l' // end of the replay; no payload
	Resized Kind = 'z' // a Screen as JSON
	Input   Kind = 'i' // raw input for the terminal, from a viewer
	Resize  Kind = 's' // a Screen as JSON, from a viewer
)

// Message is one message. Its payload is valid until the next message is read from the same connection.
type Message struct {
	Kind Kind
	Data []byte
}

// Write sends a message in one write: kind (one byte), length (four bytes) and payload.
func Write(w io.Writer, kind Kind, data []byte) error {
	if len(data) > MaxMessage {
		return fmt.Errorf("a message of %d bytes exceeds the limit of %d", len(data), MaxMessage)
	}
	_, err := w.Write(AppendMessage(make([]byte, 0, 5+len(data)), kind, data))
	return err
}

// AppendMessage appends an encoded message to b. data must not exceed MaxMessage bytes.
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

// Reader reads messages.
type Reader struct {
	r   io.Reader
	buf [512]byte
}

// NewReader returns a Reader that never reads beyond the current message.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next reads the next message. It returns io.EOF only if r ends between messages.
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
