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
	// bytes of a run's output that are kept for late or slow readers
	liveKept  = 64 << 10
	livePiece = 8 << 10                // bytes of a piece at most, but for the first
	livePace  = 100 * time.Millisecond // between two looks of a reader
	// within so many bytes what is left out ends with a line, if one ends there
	liveLine = 4 << 10
	// ended runs whose output is still kept, for late readers
	liveEnded = 16
)

// outputs are what the runs that go have printed so far, and the newest of those that have ended, by the ids of their
// records. The machine knows nothing of them. All methods may be called from several goroutines.
type outputs struct {
	mu    sync.Mutex
	of    map[string]*output
	ended []string // whose records are closed, the oldest first
}

// open gives the output of a run, new if need be.
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

// Find gives the output of a run that goes or has ended lately; nil of any other.
func (o *outputs) Find(run string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[run]
}

// Finish says that a run prints nothing more: its readers come to their end.
func (o *outputs) Finish(run string) {
	if out := o.Find(run); out != nil {
		out.Finish()
	}
}

// close says that a run's record is closed, which has the end of its output: all of it may be forgotten before
// long. Who reads it already reads on to the end.
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

// output keeps the newest of what a run prints. Nobody who reads it can hold up who writes.
type output struct {
	mu    sync.Mutex
	kept  []byte // at most twice liveKept
	total int64  // bytes that were written
	ended bool
	over  chan struct{} // closed at the end
	news  chan struct{} // closed by what comes next; nil: no reader waits
}

// Write implements io.Writer. It never fails and never waits for a reader.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(p))
	o.kept = append(o.kept, p[max(0, len(p)-liveKept):]...)
	if over := len(o.kept) - liveKept; over > liveKept { // cut rarely, not at each write
		o.kept = slices.Delete(o.kept, 0, over)
	}
	o.stir()
	return len(p), nil
}

func (o *output) Finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended = true
		o.kept = slices.Clone(o.kept[max(0, len(o.kept)-liveKept):]) // and no more memory than that
		close(o.over)
		o.stir()
	}
}

// stir wakes all readers that wait. The caller holds o.mu.
func (o *output) stir() {
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
}

// after is what was written from a place on: as much as is kept, and how much before it is lost. Where there is
// nothing, news is closed once there is, or at the end; nil: there will be nothing.
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

// hearer is one reader of an output.
type hearer struct {
	of    *output
	at    int64 // it has read up to here
	text  screen.Stream
	first bool // nothing was told yet
	inner bool // the text that was told ends within a line
}

// take reads what is there, as pieces: one at once, be it empty, then none if there is nothing. news is as of after.
func (h *hearer) take() (pieces []city.Piece, news <-chan struct{}) {
	data, lost, news := h.of.after(h.at)
	h.at += lost + int64(len(data))
	if lost > 0 {
		n := unbroken(data)
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

// add appends a piece unless it would say nothing.
func (h *hearer) add(pieces []city.Piece, text string, lost int64) []city.Piece {
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

// unbroken is how many bytes there are before the first line, else before the first character, that is whole.
func unbroken(data []byte) int {
	if i := bytes.IndexByte(data[:min(len(data), liveLine)], '\n'); i >= 0 {
		return i + 1
	}
	n := 0
	for n < min(len(data), utf8.UTFMax-1) && !utf8.RuneStart(data[n]) {
		n++
	}
	return n
}

// errHeard ends the reading of an output whose reader wants no more.
var errHeard = errors.New("the reader wants no more")

// Hear reads an output to its end, or until gone is closed or ctx ends.
func (o *output) Hear(ctx context.Context, gone <-chan struct{},
	yield func(city.Piece, error) bool) {
	h := hearer{of: o, first: true}
	tell := func(pieces []city.Piece) error {
		for _, p := range pieces {
			if !yield(p, nil) {
				return errHeard
			}
		}
		return nil
	}
	// await waits for one of two things, and fails when there is nothing more to wait for.
	await := func(one <-chan struct{}, other <-chan time.Time) error {
		select {
		case <-one:
			return nil
		case <-other:
			return nil
		case <-gone:
			return &city.Error{Code: city.Unavailable, Message: ErrEnded.Error()}
		case <-ctx.Done():
			return errHeard
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
		if err == errHeard {
			return
		}
		if err != nil {
			yield(city.Piece{}, err)
			return
		}
	}
}

var ErrEnded = errors.New("the controller has ended")
