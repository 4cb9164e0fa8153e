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
	// in bytes; for late or slow readers
	liveKept  = 64 << 10
	livePiece = 8 << 10 // in bytes; the first piece may be larger
	livePace  = 100 * time.Millisecond
	// a cut is moved to the next line break within this distance
	liveLine  = 4 << 10
	liveEnded = 16
)

// outputs is safe for concurrent use. The keys are record IDs.
type outputs struct {
	mu    sync.Mutex
	of    map[string]*output
	ended []string
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

// Finish marks the output of a run as complete.
func (o *outputs) Finish(run string) {
	if out := o.Find(run); out != nil {
		out.Finish()
	}
}

// close marks the output as complete. From then on, it may be dropped, because the run's record contains its last part.
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

// Readers never delay the writer.
type output struct {
	mu    sync.Mutex
	kept  []byte // at most twice liveKept bytes
	total int64
	ended bool
	over  chan struct{}
	news  chan struct{} // nil = no reader waits
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

// The caller must hold o.mu.
func (o *output) wakeReaders() {
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
}

// after returns the output after a position, and the number of bytes lost before it. news is closed at the next write
// or at the end; it is nil if there is new data or the output has ended.
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
	first bool
	inner bool // the previous piece did not end with a complete line
}

// Only the first piece may be empty.
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

// completePrefix returns the number of bytes before the first complete line or, if no line ends within liveLine bytes,
// before the first complete character.
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
			return city.Errorf(city.Unavailable, "%v", ErrEnded)
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
