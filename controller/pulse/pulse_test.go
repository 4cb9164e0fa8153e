package pulse

import (
	"testing"
	"time"
)

func TestDue(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct{ wake, want time.Time }{
		{time.Time{}, now.Add(10 * time.Second)},
		{now.Add(time.Minute), now.Add(10 * time.Second)},
		{now.Add(3 * time.Second), now.Add(3 * time.Second)},
		{now.Add(-time.Hour), now}, // a wake time in the past is due now
	} {
		if got := Due(now, 10*time.Second, c.wake); !got.Equal(c.want) {
			t.Errorf("due %s, want %s", got, c.want)
		}
	}
}
