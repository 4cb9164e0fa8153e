package widget

import (
	"math"
	"slices"
	"time"

	"gcity/city"
	"gcity/themes"
)

const (
	SparkBuckets = 30
	SparkStep    = 20 * time.Second
	sparkSpan    = SparkBuckets * SparkStep
)

// Sparklines contains the recent output rates of agents, by name.
type Sparklines struct {
	agents map[string]*sessionOutput
}

type sessionOutput struct {
	session string
	since   time.Time
	last    uint64 // in bytes, at the latest snapshot
	at      time.Time
	bytes   [SparkBuckets]float64
	head    int64 // latest bucket, counted from the epoch
}

// Observe records the agents of a snapshot. Output between two snapshots is spread over at most one patrol interval.
func (p *Sparklines) Observe(agents []city.Agent, now time.Time, patrol time.Duration) {
	if p.agents == nil {
		p.agents = map[string]*sessionOutput{}
	}
	living := 0
	for i := range agents {
		a := &agents[i]
		if a.Session == nil || a.Session.LastActivity == nil {
			continue
		}
		living++
		q := p.agents[a.Name]
		if q == nil || q.session != a.Session.ID {
			p.agents[a.Name] = &sessionOutput{session: a.Session.ID, since: now,
				last: a.Session.Output, at: now,
				head: bucketOf(now)}
			continue
		}
		if a.Session.Output > q.last {
			to := *a.Session.LastActivity
			if to.Before(q.at) || to.After(now) {
				to = now
			}
			q.spread(float64(a.Session.Output-q.last), later(q.at, to.Add(-patrol-time.Second)), to)
			q.at = to
		}
		q.last = a.Session.Output
	}
	if len(p.agents) > living {
		for name, q := range p.agents {
			if !hasSession(agents, name, q.session) {
				delete(p.agents, name)
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func hasSession(agents []city.Agent, name, life string) bool {
	for i := range agents {
		if agents[i].Name == name {
			return agents[i].Session != nil && agents[i].Session.ID == life
		}
	}
	return false
}

func bucketOf(t time.Time) int64 { return t.UnixNano() / int64(SparkStep) }

func (q *sessionOutput) advance(n int64) {
	if n-q.head >= SparkBuckets {
		q.bytes, q.head = [SparkBuckets]float64{}, n
	}
	for q.head < n {
		q.head++
		q.bytes[q.head%SparkBuckets] = 0
	}
}

func (q *sessionOutput) spread(bytes float64, from, to time.Time) {
	first, last := bucketOf(from), bucketOf(to)
	q.advance(last)
	total := to.Sub(from)
	if total <= 0 || first >= last {
		q.bytes[last%SparkBuckets] += bytes
		return
	}
	for n := max(first, last-SparkBuckets+1); n <= last; n++ {
		begin := later(from, time.Unix(0, n*int64(SparkStep)))
		end := time.Unix(0, (n+1)*int64(SparkStep))
		if end.After(to) {
			end = to
		}
		q.bytes[n%SparkBuckets] += bytes * float64(end.Sub(begin)) / float64(total)
	}
}

// levels returns the level of each bucket, oldest first: 0 is unknown, 1 is quiet, and 4 is the busiest.
func (q *sessionOutput) levels(now time.Time) (out [SparkBuckets]int) {
	head, known := bucketOf(now), bucketOf(q.since)
	for i := range out {
		n := head - SparkBuckets + 1 + int64(i)
		switch {
		case n < known:
		case n > q.head || n <= q.head-SparkBuckets:
			out[i] = 1
		default:
			out[i] = levelOf(q.bytes[n%SparkBuckets])
		}
	}
	return out
}

func levelOf(bytes float64) int {
	const talk, flood = 2_000, 100_000 // bytes in a bucket
	switch {
	case math.Round(bytes) < 1:
		return 1
	case bytes < talk:
		return 2
	case bytes < flood:
		return 3
	}
	return 4
}

// Draw returns a chart of the last ten minutes with two buckets per column, or "" without data.
func (p *Sparklines) Draw(name string, now time.Time, glyphs *themes.Glyphs) string {
	q := p.agents[name]
	if q == nil {
		return ""
	}
	levels := q.levels(now)
	// a single dot would not carry any information
	if levels[SparkBuckets-3] == 0 && slices.Max(levels[:]) < 2 {
		return ""
	}
	var text []byte
	for i := 0; i < SparkBuckets; i += 2 {
		text = append(text, glyphs.Spark[levels[i]][levels[i+1]]...)
	}
	return string(text)
}
