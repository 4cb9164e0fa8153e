package perform

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"gcity/city"
	"gcity/internal/screen"
)

const (
	// number of bytes of a run's output that are retained for late or slow readers
	liveKept  = 64 << 10
	livePiece = 8 << 10                // maximum size of a piece; the first piece may be larger
	livePace  = 100 * time.Millisecond // minimum interval between pieces of output
	// a cut is moved to the next line break within this distance
	liveLine = 4 << 10
	// number of ended runs with retained output
	liveEnded = 16
)

// outputs contains the output of active runs and of the newest ended runs, by record ID. It is not part of the
// machine's state. It is safe for concurrent use.
type outputs struct {
	mu    sync.Mutex
	of    map[string]*output
	ended []string // runs with closed records, the oldest first
}

func (o *outputs) open(run string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]*output{}
	}
	if o.of[run] == nil {
		o.of[run] = &output{over: make(chan struct{})}
	}
	return o.of[run]
}

// Find returns the output of an active or recently ended run, or nil.
func (o *outputs) Find(run string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[run]
}

// Finish marks the output of a run as complete. Readers reach EOF after the remaining output.
func (o *outputs) Finish(run string) {
	if out := o.Find(run); out != nil {
		out.Finish()
	}
}

// close records that the run's record contains the end of the output. The output may then be dropped. Current readers
// can still read it.
func (o *outputs) close(run string) {
	o.Finish(run)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of[run] == nil || slices.Contains(o.ended, run) {
		return
	}
	o.ended = append(o.ended, run)
	for len(o.ended) > liveEnded {
		delete(o.of, o.ended[0])
		o.ended = slices.Delete(o.ended, 0, 1)
	}
}

// output is the latest output of a run. Readers never delay the writer.
type output struct {
	mu    sync.Mutex
	kept  []byte // at most twice liveKept bytes
	total int64  // number of bytes written so far
	ended bool
	over  chan struct{} // closed when the output is complete
	news  chan struct{} // closed at the next write; nil = no reader waits
}

// Write implements io.Writer. It never fails and never waits for a reader.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(p))
	o.kept = append(o.kept, p[max(0, len(p)-liveKept):]...)
	// cut only after the size has doubled, to copy less often
	if over := len(o.kept) - liveKept; over > liveKept {
		o.kept = slices.Delete(o.kept, 0, over)
	}
	o.wakeReaders()
	return len(p), nil
}

func (o *output) Finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended = true
		// clone, so that the rest of the array can be freed
		o.kept = slices.Clone(o.kept[max(0, len(o.kept)-liveKept):])
		close(o.over)
		o.wakeReaders()
	}
}

func (o *output) complete() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// wakeReaders wakes all waiting readers. The caller must hold o.mu.
func (o *output) wakeReaders() {
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
}

// after returns the output after a position, and the number of bytes lost before it. The channel is closed at the next
// write or at the end. It is nil if there is new data, or if the output has ended.
func (o *output) after(at int64) (data []byte, lost int64, news <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at == o.total {
		if o.news == nil && !o.ended {
			o.news = make(chan struct{})
		}
		return nil, 0, o.news
	}
	from := max(at, o.total-int64(min(len(o.kept), liveKept)))
	return bytes.Clone(o.kept[len(o.kept)-int(o.total-from):]), from - at, nil
}

type outputReader struct {
	of    *output
	at    int64
	text  screen.Stream
	first bool // no piece has been returned yet
	inner bool // the previous piece did not end with a complete line
}

// take returns the available data as pieces. Only the first piece may be empty. The second result is the channel from
// output.after.
func (h *outputReader) take() (pieces []city.Piece, news <-chan struct{}) {
	data, lost, news := h.of.after(h.at)
	h.at += lost + int64(len(data))
	if lost > 0 {
		n := completePrefix(data)
		data, lost = data[n:], lost+int64(n)
		h.text = screen.Stream{}
	}
	size := livePiece
	if h.first {
		size = liveKept
	}
	for chunk := range slices.Chunk(data, size) {
		pieces = h.add(pieces, h.text.Clean(chunk), lost)
		lost = 0
	}
	if len(pieces) == 0 && h.first {
		pieces = []city.Piece{{Dropped: lost}}
	}
	h.first = false
	return pieces, news
}

func (h *outputReader) add(pieces []city.Piece, text string, lost int64) []city.Piece {
	if text == "" && lost == 0 {
		return pieces
	}
	if lost > 0 && h.inner {
		text = "\n" + text
	}
	if text != "" {
		h.inner = text[len(text)-1] != '\n'
	}
	return append(pieces, city.Piece{Text: text, Dropped: lost})
}

// completePrefix returns the number of bytes before the first complete line. If the line is too long, it returns the
// number of bytes before the first complete character.
func completePrefix(data []byte) int {
	if i := bytes.IndexByte(data[:min(len(data), liveLine)], '\n'); i >= 0 {
		return i + 1
	}
	n := 0
	for n < min(len(data), utf8.UTFMax-1) && !utf8.RuneStart(data[n]) {
		n++
	}
	return n
}

var errReaderStopped = errors.New("the reader stopped")

// Follow yields the retained output and then new output until the output or ctx ends. If gone is closed earlier, it
// yields an error.
func (o *output) Follow(ctx context.Context, gone <-chan struct{},
	yield func(city.Piece, error) bool) {
	h := outputReader{of: o, first: true}
	tell := func(pieces []city.Piece) error {
		for _, p := range pieces {
			if !yield(p, nil) {
				return errReaderStopped
			}
		}
		return nil
	}
	// await fails if ctx ends, or if gone is closed before the output is complete.
	await := func(one <-chan struct{}, other <-chan time.Time) error {
		select {
		case <-one:
			return nil
		case <-other:
			return nil
		case <-gone:
			if o.complete() {
				return nil // the remaining output can still be read
			}
			return &city.Error{Code: city.Unavailable, Message: ErrEnded.Error()}
		case <-ctx.Done():
			return errReaderStopped
		}
	}
	pace := time.NewTicker(livePace)
	defer pace.Stop()
	for {
		pieces, news := h.take()
		err := tell(pieces)
		switch {
		case err != nil:
		case len(pieces) > 0:
			err = await(o.over, pace.C)
		case news != nil:
			err = await(news, nil)
		default:
			_ = tell(h.add(nil, h.text.End(), 0))
			return
		}
		if err == errReaderStopped {
			return
		}
		if err != nil {
			yield(city.Piece{}, err)
			return
		}
	}
}

var ErrEnded = errors.New("the controller has exited")
