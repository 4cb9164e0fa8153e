package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const window = 4 * maxLine

// Damage is a range of bytes that contains no valid events.
type Damage struct {
	File string `json:"file"`
	From int64  `json:"from"` // offset of the first byte
	To   int64  `json:"to"`   // offset after the last byte
	Why  string `json:"why"`
}

func (d Damage) String() string {
	return fmt.Sprintf("%s, bytes %d to %d: %s", d.File, d.From, d.To, d.Why)
}

// damageCounter counts each damaged line once, even if it is read several times.
type damageCounter struct {
	mu    sync.Mutex
	seen  map[damageKey]struct{}
	total uint64
	last  []Damage
}

type damageKey struct {
	from, to int64
	sum      uint32
}

const (
	maxCountedOnce = 1024 // with more damaged lines, a line can be counted twice
	maxKeptDamages = 16
)

func (t *damageCounter) add(d Damage, line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := damageKey{d.From, d.To, checksum(line[:min(len(line), maxLine)])}
	if _, known := t.seen[k]; known {
		return
	}
	if t.seen == nil {
		t.seen = map[damageKey]struct{}{}
	}
	if len(t.seen) < maxCountedOnce {
		t.seen[k] = struct{}{}
	}
	t.total++
	if len(t.last) == maxKeptDamages {
		t.last = t.last[1:]
	}
	t.last = append(t.last, d)
}

func (t *damageCounter) get() (uint64, []Damage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total, append([]Damage(nil), t.last...)
}

func why(line []byte) string {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return "empty line"
	case bytes.IndexByte(line, 0) >= 0:
		return "NUL bytes"
	case len(line) >= maxLine:
		return "longer than 64 KiB"
	case !bytes.Contains(line, []byte(sealHead)):
		return "no checksum: not written by gcity, or torn"
	}
	return "wrong checksum"
}

// scanner reads complete lines forward. If the last line has no newline yet, it is read again later, because a writer
// may replace it.
type scanner struct {
	r   io.ReaderAt
	off int64  // offset of the next line
	buf []byte // bytes already read, starting at off
	all []byte // the buffer that contains buf
}

// next returns io.EOF after the last complete line. The line is valid until the next call. If a line is much too long,
// next returns only its beginning.
func (s *scanner) next() (line []byte, off int64, err error) {
	i := bytes.IndexByte(s.buf, '\n')
	if i < 0 {
		if err := s.fill(); err != nil {
			return nil, s.off, err
		}
		if i = bytes.IndexByte(s.buf, '\n'); i < 0 {
			return s.skip()
		}
	}
	line, off = s.buf[:i], s.off
	s.buf = s.buf[i+1:]
	s.off += int64(i) + 1
	return line, off, nil
}

func (s *scanner) fill() error {
	s.buf = nil
	for size := min(max(2*len(s.all), window/16), window); ; size = window {
		if len(s.all) < size {
			s.all = make([]byte, size)
		}
		n, err := s.r.ReadAt(s.all, s.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.IndexByte(s.all[:n], '\n') >= 0 || n == window {
			s.buf = s.all[:n]
			return nil
		}
		if n < len(s.all) {
			return io.EOF
		}
	}
}

// skip moves past an overlong line and returns its beginning. If the line has no newline yet, the position stays
// unchanged.
func (s *scanner) skip() (line []byte, off int64, err error) {
	line, s.buf = s.buf, nil
	block := make([]byte, window)
	for at := s.off + int64(len(line)); ; {
		n, err := s.r.ReadAt(block, at)
		if i := bytes.IndexByte(block[:n], '\n'); i >= 0 {
			off = s.off
			s.off = at + int64(i) + 1
			return line, off, nil
		}
		if err != nil {
			return nil, s.off, err
		}
		at += int64(n)
	}
}

func lastBreak(r io.ReaderAt, end int64) (int64, error) {
	block := make([]byte, min(end, window))
	for end > 0 {
		start := max(0, end-window)
		b := block[:end-start]
		if _, err := io.ReadFull(io.NewSectionReader(r, start, end-start), b); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// visitor is called with a line, its offset, and the offset of the next line. The line is valid only during the call.
// The visitor returns false to stop.
type visitor func(line []byte, off, to int64) (more bool)

// backward visits the lines before an offset, the last one first. It does not visit the lines of blocks for which skip
// returns true; skip may be nil.
func backward(r io.ReaderAt, end int64, skip func(block []byte) bool, visit visitor) error {
	end, err := lastBreak(r, end)
	if err != nil {
		return err
	}
	block := make([]byte, min(end, window))
	// the first block is small, because callers often need only the newest lines
	for size := int64(maxLine); end > 0; size = window {
		start := max(0, end-size)
		b := block[:end-start]
		if _, err := io.ReadFull(io.NewSectionReader(r, start, end-start), b); err != nil {
			return err
		}
		if start > 0 {
			cut := bytes.IndexByte(b, '\n') + 1
			b, start = b[cut:], start+int64(cut)
		}
		if start == end { // a single line fills the block
			if start, err = lastBreak(r, end-1); err != nil {
				return err
			}
			b = block[:min(end-start, window)]
			if _, err := io.ReadFull(io.NewSectionReader(r, start, int64(len(b))), b); err != nil {
				return err
			}
			if !visit(b[:len(b)-1], start, end) {
				return nil
			}
		} else if (skip == nil || !skip(b)) && !visitBackward(b, start, visit) {
			return nil
		}
		end = start
	}
	return nil
}

func visitBackward(b []byte, off int64, visit visitor) bool {
	for len(b) > 0 {
		to := off + int64(len(b))
		i := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
		if !visit(b[i:len(b)-1], off+int64(i), to) {
			return false
		}
		b = b[:i]
	}
	return true
}

// locate returns the offset of the first event after a seq, or of an earlier event.
func locate(r io.ReaderAt, size int64, after uint64) (int64, error) {
	lo, hi := int64(0), size
	for hi-lo > window {
		mid := lo + (hi-lo)/2
		s := &scanner{r: r, off: mid}
		// skip the rest of a line
		if _, _, err := s.next(); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		seq, end, err := s.intact(hi)
		switch {
		case err != nil:
			return 0, err
		case seq != 0 && seq <= after:
			lo = end
		default:
			hi = mid
		}
	}
	return lo, nil
}

// intact returns the seq of the next valid line that starts before limit, and the offset of the line's end. It skips
// damaged lines. If no valid line is left, seq is 0.
func (s *scanner) intact(limit int64) (seq uint64, end int64, err error) {
	for s.off < limit {
		line, _, err := s.next()
		if errors.Is(err, io.EOF) {
			return 0, s.off, nil
		}
		if err != nil {
			return 0, s.off, err
		}
		if seq, ok := unseal(line); ok {
			return seq, s.off, nil
		}
	}
	return 0, s.off, nil
}
