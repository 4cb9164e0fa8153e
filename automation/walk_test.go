package automation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 20260322, "seed of the random schedules in TestAgainstEveryMinute")

// drawn is a random schedule. It is stored as sets, so that walk does not depend on the parser under test.
type drawn struct {
	text string
	sets [5]uint64
}

func draw(r *rand.Rand) drawn {
	var d drawn
	parts := make([]string, 5)
	for i, f := range fields() {
		if r.IntN(3) == 0 {
			parts[i], d.sets[i] = "*", interval(f.low, f.high, 1)
			if step := 1 + r.IntN(f.high); r.IntN(2) == 0 {
				parts[i], d.sets[i] = "*/"+strconv.Itoa(step), interval(f.low, f.high, step)
			}
			continue
		}
		var items []string
		for range 1 + r.IntN(3) {
			low := f.low + r.IntN(f.high-f.low+1)
			high, step := low+r.IntN(f.high-low+1), 1+r.IntN(f.high)
			switch r.IntN(3) {
			case 0:
				items, d.sets[i] = append(items, strconv.Itoa(low)), d.sets[i]|1<<low
			case 1:
				items, d.sets[i] = append(items, fmt.Sprintf("%d-%d", low, high)),
					d.sets[i]|interval(low, high, 1)
			default:
				items, d.sets[i] = append(items, fmt.Sprintf("%d-%d/%d", low, high, step)),
					d.sets[i]|interval(low, high, step)
			}
		}
		parts[i] = strings.Join(items, ",")
	}
	if d.sets[4]>>7&1 == 1 {
		d.sets[4] |= 1
	}
	d.text = strings.Join(parts, " ")
	return d
}

func interval(low, high, step int) (set uint64) {
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set
}

func (d drawn) has(i, v int) bool { return d.sets[i]>>v&1 == 1 }

func (d drawn) day(at time.Time) bool {
	parts := strings.Fields(d.text)
	month, week := d.has(2, at.Day()), d.has(4, int(at.Weekday()))
	if parts[2][0] == '*' || parts[4][0] == '*' {
		return d.has(3, int(at.Month())) && month && week
	}
	return d.has(3, int(at.Month())) && (month || week)
}

// walk goes through some years minute by minute, and returns the minutes (since the Unix epoch) when a schedule fires.
// With "*" hours, it fires whenever the clock shows a matching time. With other hours, it fires when the clock first
// shows a matching time, or has just skipped one.
func walk(d drawn, years []int32, start int64) []int64 {
	var out []int64
	hours := strings.Fields(d.text)[1]
	furthest, today, comes := start+int64(years[0])-1, int64(-1), false
	matches := func(wall int64) bool {
		if day := wall / 1440; day != today {
			today, comes = day, d.day(time.Unix(day*86400, 0).UTC())
		}
		return comes && d.has(1, int(wall%1440/60)) && d.has(0, int(wall%60))
	}
	for i, offset := range years {
		now := start + int64(i)
		wall := now + int64(offset)
		if hours[0] == '*' {
			if matches(wall) {
				out = append(out, now)
			}
			continue
		}
		for c := furthest + 1; c <= wall; c++ {
			if matches(c) {
				out = append(out, now)
				break
			}
		}
		furthest = max(furthest, wall)
	}
	return out
}

// offsets returns a zone's offset from UTC for each minute, and the minutes when it changes. Offsets are in minutes. It
// assumes that zones change only at quarter hours.
func offsets(zone *time.Location, start time.Time, minutes int) (all []int32, changes []int) {
	all = make([]int32, minutes)
	for i := range all {
		if i%15 != 0 {
			all[i] = all[i-1]
			continue
		}
		_, seconds := start.Add(time.Duration(i) * time.Minute).In(zone).Zone()
		all[i] = int32(seconds / 60)
		if i > 0 && all[i] != all[i-1] {
			changes = append(changes, i)
		}
	}
	return all, changes
}

func zones() []string {
	return []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago",
		"Africa/Casablanca", "Antarctica/Troll"}
}

// Next agrees with a walk through every minute of four years, in six zones.
func TestAgainstEveryMinute(t *testing.T) {
	t.Logf("seed %d", *seed)
	r := rand.New(rand.NewPCG(*seed, 1))
	start := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	years, each := 4, 3
	if testing.Short() {
		years, each = 1, 2
	}
	for _, name := range zones() {
		zone := in(t, name)
		all, changes := offsets(zone, start, years*366*1440)
		if len(changes) < 2*years-1 {
			t.Fatalf("%s: got only %d changes of the offset", name, len(changes))
		}
		for range each {
			d := draw(r)
			if s, err := ParseSchedule(d.text); err == nil {
				agree(t, r, s, walk(d, all, start.Unix()/60),
					stretch{zone, start, len(all), changes})
			} else if !strings.Contains(err.Error(), "never comes") {
				t.Errorf("%q: %v", d.text, err)
			}
		}
	}
}

type stretch struct {
	zone    *time.Location
	start   time.Time
	minutes int
	changes []int
}

func agree(t *testing.T, r *rand.Rand, s Schedule, want []int64, in stretch) {
	t.Helper()
	for i := range 60 {
		after := 1440 + r.IntN(in.minutes-2*1440)
		if i%3 > 0 {
			after = max(1440, in.changes[r.IntN(len(in.changes))]-200+r.IntN(400))
		}
		from := in.start.Add(time.Duration(after)*time.Minute +
			time.Duration(r.IntN(60))*time.Second)
		k, found := slices.BinarySearch(want, from.Unix()/60)
		if found {
			k++
		}
		got := s.Next(from, in.zone)
		switch {
		case k == len(want):
			if !got.IsZero() && got.Before(in.start.Add(time.Duration(in.minutes)*time.Minute)) {
				t.Fatalf("%s %q after %v: got %v, want nothing in these years", in.zone, s,
					from.In(in.zone), got)
			}
		case got.Unix() != want[k]*60:
			t.Fatalf("%s %q after %v: got %v, want %v", in.zone, s, from.In(in.zone), got,
				time.Unix(want[k]*60, 0).In(in.zone))
		}
	}
}

// A seed gives a schedule, an instant and a zone. Next agrees with a walk through the days after the instant.
func FuzzAgainstEveryMinute(f *testing.F) {
	for i := range 20 {
		f.Add(uint64(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		zone := in(t, zones()[r.IntN(len(zones()))])
		start := time.Date(2020+r.IntN(15), time.Month(1+r.IntN(12)), 1, 0, 0, 0, 0, time.UTC)
		all, changes := offsets(zone, start, 200*1440)
		d := draw(r)
		s, err := ParseSchedule(d.text)
		if err != nil || len(changes) == 0 {
			return
		}
		agree(t, r, s, walk(d, all, start.Unix()/60), stretch{zone, start, len(all), changes})
	})
}
