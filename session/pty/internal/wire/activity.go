package wire

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// Metadata keys that the holder itself reads. They are the same as in package session.
const (
	ReadyMark    = "GC_READY"
	DrainMark    = "GC_DRAIN"
	DrainByMark  = "GC_DRAIN_BY"
	DrainAckMark = "GC_DRAIN_ACK"
)

// MaxDrainBy is the maximum length of DrainByMark in the record, in bytes.
const MaxDrainBy = 16

// Drain contains the values of the drain marks. session.ParseDrain validates them.
type Drain struct {
	Since int64  // Unix seconds; not draining if <= 0
	By    string // at most MaxDrainBy bytes
	Acked bool
}

// ReadDrain reads the drain marks from a session's metadata. It ignores values that do not fit in the record.
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

// Mark returns the value of a drain mark, or "". The method can be passed to session.ParseDrain.
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

// Activity is a record that the holder rewrites in place. Times are CLOCK_MONOTONIC nanoseconds; 0 means never.
type Activity struct {
	Alive, Ready, Frozen bool
	// a viewer's draft is on the input line
	Draft bool

	PID      int32
	Attached int32
	Started  int64
	Output   int64 // time of the last output
	Input    int64 // time of the last input of any kind
	Typed    int64 // time of the last input from an attached viewer
	Bytes    uint64
	Life     uint64 // hash of the session's ID

	Marked bool // the field Drain is valid
	Drain  Drain
}

// Sizes of the record. Older holders write the smaller one, which has no drain.
const (
	ActivitySize  = 88
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

// Encode returns the record in its binary form.
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

// DecodeActivity decodes a record. If the record has another version, ok is false.
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

// LifeHash returns the FNV-1a hash of a session's ID.
func LifeHash(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}
