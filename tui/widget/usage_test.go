package widget

import (
	"math"
	"testing"

	"gcity/city"
)

func TestUsageTexts(t *testing.T) {
	for _, c := range []struct {
		use      city.Usage
		cpu, mem string
	}{
		{city.Usage{}, "0.0%", "-"},
		{city.Usage{CPU: 0.04, RSS: 1024}, "0.0%", "1K"},
		{city.Usage{CPU: 12, RSS: 640 << 10}, "12.0%", "640K"},
		{city.Usage{CPU: 99.94, RSS: 1023 << 10}, "99.9%", "1023K"},
		{city.Usage{CPU: 99.96, RSS: 1<<20 - 1}, "100%", "1M"},
		{city.Usage{CPU: 3412.7, RSS: 310 << 20}, "3413%", "310M"},
		{city.Usage{CPU: math.Inf(1), RSS: 1<<30 - 1}, "99999%", "1.0G"},
		{city.Usage{CPU: math.NaN(), RSS: 1300 << 20}, "-", "1.3G"},
		{city.Usage{CPU: -1, RSS: 96 << 30}, "-", "96G"},
		{city.Usage{RSS: math.MaxInt64}, "0.0%", "9999T"},
	} {
		if cpu, mem := CPU(&c.use), Memory(&c.use); cpu != c.cpu || mem != c.mem {
			t.Errorf("%+v: %q %q, want %q %q", c.use, cpu, mem, c.cpu, c.mem)
		}
	}
	if CPU(nil) != "-" || Memory(nil) != "-" {
		t.Error("unmeasured usage is not shown as a dash")
	}
}
