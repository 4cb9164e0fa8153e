package cli

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"90s": noon.Add(-90 * time.Second), "3d": noon.Add(-72 * time.Hour), "1.5d": noon.Add(-36 * time.Hour),
		"2026-11-20T08:00:00Z": time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := moment(text, noon); err != nil || !got.Equal(want) {
			t.Errorf("moment(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1h", "-2d", "noon", "1e300d"} {
		if got, err := moment(text, noon); err == nil {
			t.Errorf("moment(%q) = %v, want an error", text, got)
		}
	}
}
