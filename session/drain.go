package session

import (
	"context"
	"strconv"
)

// SetDrain writes a drain into a session's marks, or with the zero Drain takes it out.
func SetDrain(ctx context.Context, m Marker, name string, d Drain) error {
	since := ""
	if !d.Since.IsZero() {
		since = strconv.FormatInt(d.Since.Unix(), 10)
	}
	acked := ""
	if d.Acked {
		acked = "1"
	}
	for _, kv := range [][2]string{{DrainAckMark, acked}, {DrainByMark, d.By}, {DrainMark, since}} {
		if err := m.SetMeta(ctx, name, kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}
