package widget

import (
	"testing"
	"time"
)

func TestFitName(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"builder", 9, "builder  "},
		{"builder", 7, "builder"},
		{"shop/polisher-1", 9, "sh…sher-1"},
		{"shop/polisher-12", 8, "s…her-12"},
		{"warehouse/very-long-pool-17", 20, "w…/very-long-pool-17"},
		{"shop/polisher-1", 5, "s…r-1"},
		{"shop/polisher-1", 2, "sh"},
		{"shop/polisher-1", 0, ""},
		{"日本語エージェント", 9, "日…ェント"},
		{"日本語エージェント", 8, "…ェント "},
	} {
		if got := FitName(c.name, c.w, "…"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.name, c.w, got, c.want)
		}
	}
}

func TestUntil(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 42, 7, 100_000_000, time.UTC)
	for d, want := range map[time.Duration]string{-time.Second: "0s", 800 * time.Millisecond: "0s",
		20*time.Second + 800*time.Millisecond: "20s", 59 * time.Second: "59s",
		59*time.Second + 800*time.Millisecond: "59s", time.Minute: "1m", 61 * time.Second: "1m01s",
		5 * time.Minute: "5m", 599 * time.Second: "9m59s", 54*time.Minute + 59*time.Second: "54m", time.Hour: "1h",
		3*time.Hour + 12*time.Minute: "3h12m", 50 * time.Hour: "2d"} {
		if got := Until(now.Add(d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Minute: "5m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h",
		150 * time.Minute:       "2h30m",
		time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms", 10 * time.Second: "10s",
		20 * time.Minute: "20m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
