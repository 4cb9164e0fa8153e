package events

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// noSync speeds up tests that open hundreds of logs: it does not flush to the disk.
var noSync = Options{datasync: func(*os.File) error { return nil }}

func content(t testing.TB, n int) (raw []byte, ends []int) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, dir, noSync)
	appendN(t, l, n)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, activeName))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range raw {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	return raw, ends
}

func heal(t testing.TB, dir string, raw []byte) []Event {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, activeName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(dir, noSync)
	if err != nil {
		t.Fatal(err)
	}
	last, err := l.Append(Event{Type: "test.next", Actor: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := all(t, dir)
	if len(got) == 0 || got[len(got)-1].Seq != last || got[len(got)-1].Type != "test.next" {
		t.Fatalf("appended event %d is not the last one in %+v", last, got)
	}
	return got
}

// The log is cut at every byte. The events before the cut are read, and the next event is intact. No seq is missing
// (L9).
func TestCutAtEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many damaged files")
	}
	raw, ends := content(t, 4)
	dir := t.TempDir()
	for k := range len(raw) + 1 {
		whole, torn := 0, k > 0 && raw[k-1] != '\n'
		for _, end := range ends {
			if end <= k || end == k+1 { // if only the newline is missing, nothing is lost
				whole++
			}
		}
		got := heal(t, dir, raw[:k])
		gapless(t, got, 1)
		want := whole + 1
		if torn {
			want++
		}
		if len(got) != want {
			t.Fatalf("cut at %d: %d events, want %d: %+v", k, len(got), want, got)
		}
		if torn != (got[len(got)-2+b2i(len(got) == 1)].Type == Repaired) {
			t.Fatalf("cut at %d: torn %t, but got %+v", k, torn, got)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Whatever bytes end a log, the intact lines before them stay readable, and the next event is intact.
func FuzzTail(f *testing.F) {
	raw, _ := content(f, 3)
	f.Add([]byte(`{"seq":4,"ts":`), uint16(len(raw)))
	f.Add([]byte("\x00\x00\x00\n\x00"), uint16(len(raw)))
	f.Add([]byte("garbage\n{\"seq\":5,\"crc\":\"00000000\"}\n"), uint16(len(raw)-1))
	f.Add(bytes.Repeat([]byte{'x'}, 3*maxLine), uint16(40))
	f.Add(raw, uint16(len(raw)))
	f.Fuzz(func(t *testing.T, tail []byte, cut uint16) {
		keep := raw[:min(int(cut), len(raw))]
		file := append(bytes.Clone(keep), tail...)
		want := intactLines(file)
		got := heal(t, t.TempDir(), file)
		seen := map[uint64]bool{}
		for i, e := range got {
			if seen[e.Seq] || i > 0 && e.Seq <= got[i-1].Seq {
				t.Fatalf("event %d is a duplicate or out of order", e.Seq)
			}
			seen[e.Seq] = true
		}
		for _, seq := range want {
			if !seen[seq] {
				t.Fatalf("intact event %d was not read", seq)
			}
		}
	})
}

// intactLines is the simplest correct reader. It returns the increasing seqs of all complete, valid lines.
func intactLines(raw []byte) (seqs []uint64) {
	last := uint64(0)
	for line := range bytes.Lines(raw) {
		line, complete := bytes.CutSuffix(line, []byte{'\n'})
		if !complete {
			break
		}
		seq, ok := unseal(line)
		var e Event
		if ok && seq > last && json.Unmarshal(line, &e) == nil {
			seqs, last = append(seqs, seq), seq
		}
	}
	return seqs
}

// The seq of a damaged last line is not used again, because a reader may have seen it.
func TestDamagedLastLineKeepsItsSeq(t *testing.T) {
	raw, ends := content(t, 4)
	raw[ends[2]+20] ^= 1
	got := heal(t, t.TempDir(), raw)
	if n := len(got); n != 5 || got[3].Type != Repaired || got[3].Seq != 5 || got[4].Seq != 6 {
		t.Fatalf("got %+v", got)
	}
	var d Damage
	if err := json.Unmarshal(got[3].Payload, &d); err != nil || d.From != int64(ends[2]) || d.To != int64(ends[3]) {
		t.Fatalf("repair event: got %+v, %v", d, err)
	}
}
