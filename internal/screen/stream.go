package screen

import (
	"strings"
	"unicode/utf8"

	"gcity/internal/grapheme"
)

// Stream cleans text that arrives in pieces, like Plain but without a limit on its length. A carriage return within a
// line starts a new line. The zero Stream is ready to use. A Stream must not be used concurrently.
type Stream struct {
	p       parser
	cleaner streamCleaner
}

// Clean returns the cleaned text of the next piece. It holds back an incomplete character or sequence at the end.
func (s *Stream) Clean(piece []byte) string {
	s.p.feed(piece, &s.cleaner)
	return s.cleaner.take()
}

// End returns the remaining text at the end of the input, and resets the stream.
func (s *Stream) End() string {
	if s.p.end(&s.cleaner) {
		s.cleaner.wide(utf8.RuneError)
	}
	text := s.cleaner.take()
	s.cleaner = streamCleaner{}
	return text
}

type streamCleaner struct {
	out     []byte
	pending []byte // not yet divided into clusters
	last    []byte // last written cluster, which a combining mark may still extend; empty = none
	col     int
	afterCR bool
}

func (f *streamCleaner) take() string {
	f.flush()
	text := string(f.out)
	f.out = f.out[:0]
	return text
}

func (f *streamCleaner) beginLine() {
	if f.afterCR && f.col > 0 {
		f.out, f.col = append(f.out, '\n'), 0
	}
	f.afterCR = false
}

func (f *streamCleaner) ascii(run []byte) {
	f.flush()
	f.beginLine()
	f.out = append(f.out, run...)
	f.col += len(run)
	f.last = append(f.last[:0], run[len(run)-1])
}

func (f *streamCleaner) wide(r rune) {
	f.beginLine()
	if unsafeRune(r) {
		r = utf8.RuneError
	}
	f.pending = utf8.AppendRune(f.pending, r)
}

func (f *streamCleaner) control(c byte) {
	f.flush()
	f.last = f.last[:0]
	switch c {
	case '\n':
		f.out, f.col, f.afterCR = append(f.out, '\n'), 0, false
	case '\r':
		f.afterCR = true
	case '\t':
		f.beginLine()
		n := 8 - f.col%8
		f.out = append(f.out, "        "[:n]...)
		f.col += n
	case 0x7f:
		f.putRune('␡')
	default:
		f.putRune(rune(0x2400 + int(c)))
	}
}

func (f *streamCleaner) putRune(r rune) {
	f.beginLine()
	f.out = utf8.AppendRune(f.out, r)
	f.col++
}

func (f *streamCleaner) escape(byte, byte)     { f.flush(); f.last = f.last[:0] }
func (f *streamCleaner) csi([]byte, byte)      { f.flush(); f.last = f.last[:0] }
func (f *streamCleaner) csiInter([]byte, byte) { f.flush(); f.last = f.last[:0] }

func (f *streamCleaner) flush() {
	b := f.pending
	if len(b) > 0 && len(f.last) > 0 {
		head, _, show, _ := grapheme.First(append(f.last, b...))
		if grown := len(head) - len(f.last); grown > 0 {
			_, _, was, _ := grapheme.First(f.last)
			if more, ok := strings.CutPrefix(show, was); ok && show != grapheme.Placeholder {
				f.out = append(f.out, more...)
			} else {
				f.out = append(f.out, grapheme.Placeholder...)
			}
			b = b[grown:]
			f.keep(head)
		}
	}
	for len(b) > 0 {
		head, rest, show, width := grapheme.First(b)
		f.out = append(f.out, show...)
		f.col += width
		f.keep(head)
		b = rest
	}
	f.pending = f.pending[:0]
}

func (f *streamCleaner) keep(head []byte) {
	head = head[:min(len(head), 2*grapheme.MaxBytes)]
	for !utf8.Valid(head) {
		head = head[:len(head)-1]
	}
	f.last = append(f.last[:0], head...)
}
