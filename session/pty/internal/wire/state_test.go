package wire

import (
	"slices"
	"strings"
	"testing"
)

func put(file []byte, at int, data []byte) []byte {
	if need := at + len(data) - len(file); need > 0 {
		file = append(file, make([]byte, need)...)
	}
	copy(file[at:], data)
	return file
}

// Until the location is replaced, readers find the previous record, whatever the sizes of the two records are.
func TestRecordIsReplacedAtomically(t *testing.T) {
	var file []byte
	var current Location
	was, most := "", 0
	for i, n := range []int{10, 3000, 5, 5, 900, 3000, 10, 20, 30, 3000, 1} {
		r := Record{ID: strings.Repeat(string(rune('a'+i)), n)}
		data := r.AppendJSON(nil)
		most = max(most, len(data))
		next := current.Next(len(data))
		file = put(file, int(next.At), data)
		if got, ok, err := DecodeRecord(file); got.ID != was || ok != (was != "") || err != nil {
			t.Fatalf("before the location of record %d is written: got %.10q, %v, %v", i, got.ID, ok, err)
		}
		at := next.Encode()
		file, current = put(file, LocationAt, at[:]), next
		if got, ok, err := DecodeRecord(file); got.ID != r.ID || !ok || err != nil {
			t.Fatalf("record %d: got %.10q, %v, %v", i, got.ID, ok, err)
		}
		was = r.ID
	}
	if limit := recordsAt + 3*most; len(file) > limit {
		t.Errorf("the file has %d bytes, want at most %d", len(file), limit)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	record := Record{ID: "x"}.AppendJSON(nil)
	at := Location{recordsAt, uint32(len(record))}.Encode()
	whole := slices.Concat(make([]byte, LocationAt), at[:], record)
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(put(slices.Clone(whole), LocationAt, []byte{255, 255, 255, 255, 255, 255, 255, 255}))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, ok, err := DecodeRecord(file)
		if err == nil && !ok && r.ID != "" {
			t.Errorf("got record %q, but ok is false", r.ID)
		}
		if ok && len(file) < recordsAt {
			t.Errorf("got a record from %d bytes", len(file))
		}
	})
}
