package screen

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkWrite(b *testing.B) {
	var color, paint strings.Builder
	for i := range 500 {
		fmt.Fprintf(&color, "\x1b[32mok\x1b[0m   the quick brown fox jumps over the lazy dog %d\r\n", i)
		fmt.Fprintf(&paint, "\x1b[%d;%dH\x1b[1;3%dm%d\x1b[m\x1b[K", i%40+1, i%80+1, i%8, i)
	}
	for _, c := range []struct{ name, in string }{
		{"yes", strings.Repeat("y\r\n", 4000)},
		{"log", color.String()},
		{"paint", paint.String()},
		{"wide", strings.Repeat("世界 ", 2000)},
		{"osc", "\x1b]0;" + strings.Repeat("x", 10000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New(120, 40, 500)
			in := []byte(c.in)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				s.Write(in)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	s := New(120, 40, 500)
	for i := range 60 {
		fmt.Fprintf(s, "\x1b[32m%3d\x1b[0m the quick \x1b[1;34mbrown\x1b[0m fox jumps over the lazy dog, again and again and again\r\n", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Lines(120, 40)
	}
}

func BenchmarkText(b *testing.B) {
	raw := []byte(strings.Repeat("\x1b[32mok\x1b[0m  the quick brown fox jumps over the lazy dog\r\n", 4400)) // 256 KiB: a full ring buffer
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Text(raw, 120, 40, 0)
	}
}

func BenchmarkPlain(b *testing.B) {
	line := "\x1b[32mok\x1b[0m   internal/screen 0.412s — the quick brown fox jumps over the lazy dog"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Plain(line)
	}
}

// BenchmarkPeek measures a peek at a full ring buffer.
func BenchmarkPeek(b *testing.B) {
	raw := bytes.Repeat([]byte("\x1b[32m12:00:00\x1b[m something happened again, and nobody looked\r\n"), 4000)
	b.Run("tail", func(b *testing.B) {
		for b.Loop() {
			_ = Text(raw, 120, 40, 20)
		}
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			_ = replay(raw, 120, 40, 20)
		}
	})
}
