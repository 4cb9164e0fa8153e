package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxDrainBy is the maximum length of Drain.By in bytes. Providers store it in a fixed-size record.
const MaxDrainBy = 16

// lastSecond is the last valid Unix time of a drain. JSON encoding rejects later times in some time zones.
const lastSecond = 253370764799

// On reports whether the session is draining.
func (d Drain) On() bool { return !d.Since.IsZero() }

// ParseDrain reads a drain from a session's metadata. It ignores invalid values, because any process can write
// metadata.
func ParseDrain(meta func(key string) string) Drain {
	since, err := strconv.ParseInt(strings.TrimSpace(meta(DrainMark)), 10, 64)
	if err != nil || since <= 0 || since > lastSecond {
		return Drain{}
	}
	d := Drain{Since: time.Unix(since, 0), Acked: meta(DrainAckMark) == "1"}
	if by := meta(DrainByMark); isWord(by) {
		d.By = by
	}
	return d
}

// SetDrain writes the marks that represent a drain. The zero Drain removes them. SetDrain returns ErrNotFound if the
// session is not alive.
//
// GC_DRAIN is written last and removed first, so an interrupted call never leaves a session marked as draining,
// and an acknowledgement never applies to a later drain.
func SetDrain(ctx context.Context, m Marker, name string, d Drain) error {
	type mark struct{ key, value string }
	marks := []mark{{DrainMark, ""}, {DrainAckMark, ""}, {DrainByMark, ""}}
	if d.On() {
		since, ack := d.Since.Unix(), ""
		if since <= 0 || since > lastSecond || d.By != "" && !isWord(d.By) {
			return fmt.Errorf("cannot drain %q: the time %s or the name %q cannot be "+
				"stored", name,
				d.Since, d.By)
		}
		if d.Acked {
			ack = "1"
		}
		marks = []mark{{DrainAckMark, ack}, {DrainByMark, d.By},
			{DrainMark, strconv.FormatInt(since, 10)}}
	}
	for _, k := range marks {
		if err := m.SetMeta(ctx, name, k.key, k.value); err != nil {
			return err
		}
	}
	return nil
}

func isWord(s string) bool {
	other := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' ||
			r == '_')
	}
	return s != "" && len(s) <= MaxDrainBy && strings.IndexFunc(s, other) < 0
}
