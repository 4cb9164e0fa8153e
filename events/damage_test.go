package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func seqsOf(events []Event) (seqs []uint64) {
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// If any bit of a line flips, all other lines are still read, and the damage is reported with its exact offset.
func TestEveryFlippedBit(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many damaged files")
	}
	raw, ends := content(t, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, activeName)
	for bit := ends[0] * 8; bit < ends[1]*8; bit++ {
		bad := bytes.Clone(raw)
		bad[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		r := &Reader{dir: dir}
		forward, err := r.Find(t.Context(), Query{Forward: true})
		if err != nil {
			t.Fatal(err)
		}
		newest, err := r.Find(t.Context(), Query{})
		if err != nil {
			t.Fatal(err)
		}
		want := []uint64{1, 3}
		if bit/8 == ends[1]-1 { // a damaged newline joins two lines
			want = []uint64{1}
		}
		slices.Reverse(newest)
		if !slices.Equal(seqsOf(forward), want) || !slices.Equal(seqsOf(newest), want) {
			t.Fatalf("bit %d: read %v and %v, want %v", bit, seqsOf(forward), seqsOf(newest), want)
		}
		n, damage := r.Damaged()
		if n == 0 || damage[0].From != int64(ends[0]) && damage[len(damage)-1].From != int64(ends[0]) {
			t.Fatalf("bit %d: got damage %v", bit, damage)
		}
	}
}

// All intact lines are read, forward and backward, whatever garbage is between them. The garbage is counted.
func TestGarbageBetweenLines(t *testing.T) {
	raw, ends := content(t, 2)
	for name, c := range map[string]struct {
		junk string
		bad  uint64
	}{
		"nothing":     {"", 0},
		"empty line":  {"\n", 1},
		"NULs":        {strings.Repeat("\x00", 100_000) + "\n", 1},
		"2 MB":        {strings.Repeat("x", 2<<20) + "\n", 1},
		"just longer": {strings.Repeat("x", maxLine) + "\n", 1},
		"a window":    {strings.Repeat("x", window-1) + "\n", 1},
		"by hand":     {`{"seq":2,"ts":"2026-01-02T03:04:05Z","type":"a.b","actor":"me"}` + "\n", 1},
		"many":        {strings.Repeat("rubbish\n", 10_000), 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := slices.Concat(raw[:ends[0]], []byte(c.junk), raw[ends[0]:])
			file = bytes.Replace(file, []byte("}\n{"), []byte("}\r\n{"), 1)
			if err := os.WriteFile(filepath.Join(dir, activeName), file, 0o600); err != nil {
				t.Fatal(err)
			}
			r := &Reader{dir: dir}
			newest, err := r.Find(t.Context(), Query{})
			if err != nil || fmt.Sprint(seqsOf(newest)) != "[2 1]" {
				t.Fatalf("newest first: got %v, %v", seqsOf(newest), err)
			}
			oldest, err := r.Find(t.Context(), Query{Forward: true})
			if err != nil || fmt.Sprint(seqsOf(oldest)) != "[1 2]" {
				t.Fatalf("oldest first: got %v, %v", seqsOf(oldest), err)
			}
			n, damage := r.Damaged()
			if c.bad < maxCountedOnce && n != c.bad || n < c.bad {
				t.Fatalf("%d damaged lines counted, want %d: %v", n, c.bad, damage)
			}
			if c.bad == 1 && (damage[0].From != int64(ends[0]+b2i(file[ends[0]-1] == '\r')) || damage[0].To != damage[0].From+int64(len(c.junk))) {
				t.Fatalf("damage %v, want %d bytes from %d", damage, len(c.junk), ends[0])
			}
		})
	}
}

// Whatever the bytes are, reading never fails, and returns all intact lines in both directions.
func FuzzReader(f *testing.F) {
	raw, ends := content(f, 3)
	f.Add(raw)
	f.Add(raw[ends[0]:])
	f.Add(append(bytes.Repeat([]byte{0}, 300), raw...))
	f.Add(append([]byte("{\"seq\":1}\r\n\n\n"), raw...))
	f.Add(seal(nil, 7, []byte(`,"nonsense`)))
	f.Add(seal(seal(nil, 9, []byte(`,"type":"b"`)), 7, []byte(`,"type":"a"`)))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, activeName), file, 0o600); err != nil {
			t.Fatal(err)
		}
		want := intactLines(file)
		r := &Reader{dir: dir}
		forward, err := r.Find(t.Context(), Query{Forward: true, Limit: MaxLimit})
		if err != nil || !slices.Equal(seqsOf(forward), want) {
			t.Fatalf("forward %v, %v, want %v", seqsOf(forward), err, want)
		}
		newest, err := r.Find(t.Context(), Query{Limit: MaxLimit})
		slices.Reverse(newest)
		if err != nil || slices.IsSorted(allSeqs(file)) && !slices.Equal(seqsOf(newest), want) {
			t.Fatalf("backward %v, %v, want %v", seqsOf(newest), err, want)
		}
		if _, err := r.Last(); err != nil {
			t.Fatal(err)
		}
	})
}

func allSeqs(file []byte) (seqs []uint64) {
	for line := range bytes.Lines(file) {
		if seq, ok := unseal(bytes.TrimSuffix(line, []byte{'\n'})); ok {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// The writer shortens long events. A line stays below 64 KiB and is a single JSON object. Followers receive the
// shortened event.
func FuzzEncode(f *testing.F) {
	f.Add("a.b", "ann", "x", "hello", []byte(`{"a":1}`))
	f.Add("a.b", strings.Repeat("\x1b", 5000), "\xff\xfe", strings.Repeat("é\u009b", 70_000), []byte(`{"a":`))
	f.Add("a.b", "", "", "", []byte(`"`+strings.Repeat("\u2028", 90_000)+`"`))
	f.Add("a.b", "", "", "", bytes.Repeat([]byte{0}, 200_000))
	f.Fuzz(func(t *testing.T, kind, actor, subject, message string, payload []byte) {
		l := open(t, t.TempDir(), noSync)
		e := Event{Type: kind, Actor: actor, Subject: subject, Message: message, Payload: payload}
		if _, err := l.Append(e); err != nil {
			if e.Check() == nil {
				t.Fatal(err)
			}
			return
		}
		raw, err := os.ReadFile(filepath.Join(l.dir, activeName))
		if err != nil || len(raw) > maxLine || bytes.Count(raw, []byte{'\n'}) != 1 || !json.Valid(raw) {
			t.Fatalf("got %d bytes, %v: %.200q", len(raw), err, raw)
		}
		got := all(t, l.dir)
		live, _, ok := l.recent.since(0, make([]Event, 0, 1))
		if !ok || len(got) != 1 || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", live) {
			t.Fatalf("from files %.300q, from memory %.300q", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", live))
		}
		if len(message) < 1000 && json.Valid([]byte(message)) && got[0].Message != message {
			t.Fatalf("message %q: got %q", message, got[0].Message)
		}
	})
}

// Check reports damaged lines by byte offset, and lost events by seq.
func TestCheck(t *testing.T) {
	raw, ends := content(t, 5)
	raw[ends[1]+30] ^= 4
	raw[ends[2]+30] ^= 4
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, activeName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := (&Reader{dir: dir}).Check(t.Context())
	if err != nil || rep.Events != 3 || rep.First != 1 || rep.Last != 5 || rep.Damaged != 2 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if !slices.Equal(rep.Missing, []Span{{3, 4}}) || rep.Damage[0].From != int64(ends[1]) || rep.Damage[1].To != int64(ends[3]) {
		t.Fatalf("%+v", rep)
	}
}
