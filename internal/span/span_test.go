package span_test

import (
	"testing"
	"time"

	"gcity/internal/span"
)

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 30 * time.Second: "30s", 5 * time.Minute: "5m",
		90 * time.Minute: "1h30m", 2 * time.Hour: "2h", 10 * time.Minute: "10m", 72 * time.Second: "1m12s",
		time.Hour + time.Second: "1h0m1s", 1500 * time.Millisecond: "1.5s", -5 * time.Minute: "-5m"} {
		if got := span.Text(d); got != want {
			t.Errorf("%s: got %q, want %q", d.String(), got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0s", 0: "0s", 12*time.Millisecond + 400*time.Microsecond: "12ms",
		870 * time.Millisecond: "0.9s", 999 * time.Millisecond: "1s", 2034 * time.Millisecond: "2s",
		99600 * time.Microsecond: "0.1s", 59960 * time.Millisecond: "1m",
		12340 * time.Millisecond: "12.3s", 72100 * time.Millisecond: "1m12s", time.Hour: "1h"} {
		if got := span.Took(d); got != want {
			t.Errorf("%s: %q, want %q", d.String(), got, want)
		}
	}
}
