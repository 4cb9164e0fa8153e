package wire

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// The metadata keys that a holder reads itself; the same as those of package session.
const (
	ReadyMark    = "GC_READY"
	DrainMark    = "GC_DRAIN"
	DrainByMark  = "GC_DRAIN_BY"
	DrainAckMark = "GC_DRAIN_ACK"
)

// MaxDrainBy is how many bytes of DrainByMark the record has room for.
const MaxDrainBy = 16

// Drain is what the drain marks say, unchecked: session.ParseDrain decides what of it makes sense.
type Drain struct {
	Since int64  // unix seconds; <= 0: not draining
	By    string // at most MaxDrainBy bytes
	Acked bool
}

// ReadDrain takes the drain marks from a session's metadata. Marks that the record has no room for count as unset.
func ReadDrain(meta map[string]string) (d Drain) {
	since, err := strconv.ParseInt(strings.TrimSpace(meta[DrainMark]), 10, 64)
	if err != nil || since <= 0 {
		return Drain{}
	}
	d = Drain{Since: since, Acked: meta[DrainAckMark] == "1"}
	if by := meta[DrainByMark]; len(by) <= MaxDrainBy {
		d.By = by
	}
	return d
}

// Mark returns the value of one of the drain marks; "" = it is not set. Its method value is what session.ParseDrain
// reads.
func (d Drain) Mark(key string) string {
	switch {
	case d.Since <= 0:
	case key == DrainMark:
		return strconv.FormatInt(d.Since, 10)
	case key == DrainByMark:
		return d.By
	case key == DrainAckMark && d.Acked:
		return "1"
	}
	return ""
}

// Activity is the small fixed record that a holder rewrites in place at most every 100 ms, and that a controller reads
// instead of asking. Times are CLOCK_MONOTONIC in nanoseconds, which all processes of one boot share; 0 = never.
type Activity struct {
	Alive, Ready, Frozen bool
	Draft                bool // a viewer's is on the line; never with holders of earlier builds

	PID      int32
	Attached int32
	Started  int64
	Output   int64 // last output
	Input    int64 // last input of any kind
	Typed    int64 // last byte from an attached viewer
	Bytes    uint64
	Life     uint64 // the session's ID, hashed: a record of another life is not about this one

	Marked bool // Drain is set; holders of earlier builds do not set it
	Drain  Drain
}

// The record's length, and that of one by a holder of an earlier build, which ends before the drain.
const (
	ActivitySize  = 96
	firstActivity = 64
)

const (
	flagAlive = 1 << iota
	flagReady
	flagFrozen
	flagMarked
	flagAcked
	flagDraft
)

// Encode writes the record.
func (a Activity) Encode() [ActivitySize]byte {
	var b [ActivitySize]byte
	b[0] = Version
	if a.Alive {
		b[1] |= flagAlive
	}
	if a.Ready {
		b[1] |= flagReady
	}
	if a.Frozen {
		b[1] |= flagFrozen
	}
	if a.Draft {
		b[1] |= flagDraft
	}
	le := binary.LittleEndian
	le.PutUint32(b[4:], uint32(a.PID))
	le.PutUint32(b[8:], uint32(a.Attached))
	le.PutUint64(b[16:], uint64(a.Started))
	le.PutUint64(b[24:], uint64(a.Output))
	le.PutUint64(b[32:], uint64(a.Input))
	le.PutUint64(b[40:], uint64(a.Typed))
	le.PutUint64(b[48:], a.Bytes)
	le.PutUint64(b[56:], a.Life)
	if a.Marked {
		b[1] |= flagMarked
	}
	if a.Drain.Since > 0 {
		le.PutUint64(b[drainAt:], uint64(a.Drain.Since))
		copy(b[drainByAt:drainByAt+MaxDrainBy], a.Drain.By)
		if a.Drain.Acked {
			b[1] |= flagAcked
		}
	}
	return b
}

// Where the drain is in the record.
const (
	drainAt   = 64
	drainByAt = 72
)

func decodeDrain(b []byte) Drain {
	since := int64(binary.LittleEndian.Uint64(b[drainAt:]))
	if since <= 0 {
		return Drain{}
	}
	by := bytes.TrimRight(b[drainByAt:drainByAt+MaxDrainBy], "\x00")
	return Drain{Since: since, By: string(by), Acked: b[1]&flagAcked != 0}
}

// DecodeActivity reads a record; not ok if it is none of this version.
func DecodeActivity(b []byte) (a Activity, ok bool) {
	if len(b) < firstActivity || b[0] != Version {
		return a, false
	}
	le := binary.LittleEndian
	a = Activity{
		Alive:    b[1]&flagAlive != 0,
		Ready:    b[1]&flagReady != 0,
		Frozen:   b[1]&flagFrozen != 0,
		Draft:    b[1]&flagDraft != 0,
		PID:      int32(le.Uint32(b[4:])),
		Attached: int32(le.Uint32(b[8:])),
		Started:  int64(le.Uint64(b[16:])),
		Output:   int64(le.Uint64(b[24:])),
		Input:    int64(le.Uint64(b[32:])),
		Typed:    int64(le.Uint64(b[40:])),
		Bytes:    le.Uint64(b[48:]),
		Life:     le.Uint64(b[56:]),
	}
	if b[1]&flagMarked != 0 && len(b) >= ActivitySize {
		a.Marked, a.Drain = true, decodeDrain(b)
	}
	return a, true
}

// LifeHash is FNV-1a of a session's ID.
func LifeHash(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}
