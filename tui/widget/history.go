package widget

import (
	"math"
	"time"

	"gcity/city"
	"gcity/themes"
)

// HistoryMinutes is how many minutes a History covers.
const HistoryMinutes = 60

// History contains the CPU usage, the memory and the restarts of agents for each minute of the last hour.
type History struct {
	hours map[string]*AgentHour
	since time.Time
}

// AgentHour is a ring of minutes. A minute without a snapshot has no value.
type AgentHour struct {
	cpu      [HistoryMinutes]uint16 // tenths of a percent, plus 1; 0 = unknown
	mem      [HistoryMinutes]uint32 // KiB, plus 1; 0 = unknown
	restarts [HistoryMinutes]uint8
	minute   int64 // number of the latest minute since the epoch
	total    int   // restarts at the latest snapshot
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// Observe records the agents of a snapshot. For each minute, it keeps the greatest CPU and memory usage and the number
// of restarts.
func (h *History) Observe(agents []city.Agent, now time.Time) {
	if h.since.IsZero() {
		h.since = now
	}
	of := make(map[string]*AgentHour, len(agents))
	for i := range agents {
		a := &agents[i]
		q := h.hours[a.Name]
		if q == nil {
			q = &AgentHour{minute: minuteOf(now), total: a.Restarts}
		}
		of[a.Name] = q
		q.advance(minuteOf(now))
		at := q.minute % HistoryMinutes
		if u := a.Usage; u != nil && u.CPU >= 0 && !math.IsNaN(u.CPU) {
			q.cpu[at] = max(q.cpu[at], uint16(min(u.CPU*10, math.MaxUint16-1))+1)
			q.mem[at] = max(q.mem[at], uint32(min(max(u.RSS, 0)>>10, math.MaxUint32-1))+1)
		}
		if more := a.Restarts - q.total; more > 0 {
			q.restarts[at] += uint8(min(more, math.MaxUint8-int(q.restarts[at])))
		}
		q.total = a.Restarts
	}
	h.hours = of
}

// Period returns text, or "from 22:31" if the history is shorter than d.
func (h *History) Period(now time.Time, d time.Duration, text string) string {
	if h.since.IsZero() || now.Sub(h.since) >= d {
		return text
	}
	return "from " + h.since.In(now.Location()).Format("15:04")
}

func (q *AgentHour) advance(minute int64) {
	if minute-q.minute >= HistoryMinutes {
		*q = AgentHour{minute: minute, total: q.total}
	}
	for q.minute < minute {
		q.minute++
		at := q.minute % HistoryMinutes
		q.cpu[at], q.mem[at], q.restarts[at] = 0, 0, 0
	}
}

// each calls f for the recorded minutes in a chart of n columns. It omits the current minute, so that the chart changes
// at most once a minute.
func (q *AgentHour) each(now time.Time, n, minutes int, f func(column, at int)) {
	last := minuteOf(now) - 1
	for i := range n * minutes {
		m := last - int64(n*minutes-1-i)
		if m <= q.minute && m > q.minute-HistoryMinutes && m >= 0 {
			f(i/minutes, int(m%HistoryMinutes))
		}
	}
}

// CPU draws the CPU usage of the last complete minutes, with one column per minute.
func (h *History) CPU(name string, now time.Time, glyphs *themes.Glyphs, n int) string {
	return bars(h.cpuLevels(name, now, n, 1), glyphs)
}

func (h *History) cpuLevels(name string, now time.Time, n, minutes int) []int {
	levels := make([]int, n)
	if q := h.hours[name]; q != nil {
		q.each(now, n, minutes, func(column, at int) {
			levels[column] = max(levels[column], cpuLevel(q.cpu[at]))
		})
	}
	return levels
}

// cpuLevel returns the height of a bar: 0 = unknown, 1 = idle, 8 = at least 1.5 processors.
func cpuLevel(tenths uint16) int {
	if tenths == 0 {
		return 0
	}
	level := 1
	for _, from := range []uint16{5, 20, 50, 150, 400, 800, 1500} {
		if tenths-1 >= from {
			level++
		}
	}
	return level
}

// Charts contains the charts of an hour; "" = no data.
type Charts struct {
	CPU, Memory, Restarts string
	Peak                  *city.Usage // nil = no session was measured
	RestartCount          int
}

// Hour draws an agent's last hour in n columns.
func (h *History) Hour(name string, now time.Time, glyphs *themes.Glyphs, n int) Charts {
	q := h.hours[name]
	if q == nil {
		return Charts{}
	}
	minutes := HistoryMinutes / n
	mem, restarts, out := make([]uint32, n), make([]int, n), Charts{}
	var most uint32
	var cpu float64
	q.each(now, n, minutes, func(column, at int) {
		mem[column] = max(mem[column], q.mem[at])
		restarts[column] += int(q.restarts[at])
		most = max(most, q.mem[at])
		out.RestartCount += int(q.restarts[at])
		if q.cpu[at] > 0 {
			cpu = max(cpu, float64(q.cpu[at]-1)/10)
		}
	})
	if at := minuteOf(now); q.minute == at { // unlike the charts, the count includes this minute
		out.RestartCount += int(q.restarts[at%HistoryMinutes])
	}
	if most == 0 && out.RestartCount == 0 {
		return Charts{}
	}
	heights := make([]int, n)
	for i, v := range mem {
		if v > 0 {
			heights[i] = max(1, int(uint64(v)*8/uint64(most)))
		}
		restarts[i] = min(restarts[i], 8)
	}
	out.CPU, out.Memory = bars(h.cpuLevels(name, now, n, minutes), glyphs), bars(heights, glyphs)
	out.Restarts = bars(restarts, glyphs)
	if most > 0 {
		out.Peak = &city.Usage{CPU: cpu, RSS: int64(most-1) << 10}
	}
	return out
}

func bars(heights []int, glyphs *themes.Glyphs) string {
	var text []byte
	for _, n := range heights {
		if n == 0 {
			text = append(text, ' ')
			continue
		}
		text = append(text, glyphs.Blocks[n-1]...)
	}
	return string(text)
}
