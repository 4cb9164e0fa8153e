package automation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/adhocore/gronx"
)

// Schedule is a cron line: minute, hour, day of the month, month, day of the week. If both day fields are restricted, a
// day matches if either field does. A day field that starts with "*" does not count as restricted. The zero value never
// fires.
//
// gronx finds the matching times. This package handles clock changes, and rejects syntax that only gronx accepts.
type Schedule struct {
	text  string
	line  string // the five fields, with numbers in place of names
	every bool   // the hour field begins with "*"
}

func (s Schedule) String() string { return s.text }

func macros() map[string]string {
	return map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
		"@weekly":  "0 0 * * 0",
		"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	}
}

type field struct {
	name      string
	low, high int
	words     string // names for the numbers from low to high, three letters each
}

func fields() [5]field {
	return [5]field{
		{"minute", 0, 59, ""}, {"hour", 0, 23, ""}, {"day of the month", 1, 31, ""},
		{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
		{"day of the week", 0, 7, "sunmontuewedthufrisat"},
	}
}

// ParseSchedule parses a cron line or a name such as @daily. It returns an error for a schedule that never fires, such
// as one for the 31st of February.
func ParseSchedule(text string) (Schedule, error) {
	line := strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(line, "@") {
		full, ok := macros()[line]
		if !ok {
			return Schedule{}, fmt.Errorf("unknown name %q: use @hourly, @daily, @weekly, "+
				"@monthly or @yearly", text)
		}
		line = full
	}
	parts := strings.Fields(line)
	if len(parts) != len(fields()) {
		return Schedule{},
			fmt.Errorf("%q has %d fields; a cron line has five: minute, hour, day of the month, "+
				`month, day of the week, like "0 3 * * *" for every day at 03:00`, text, len(parts))
	}
	for i, f := range fields() {
		items := strings.Split(parts[i], ",")
		for j, item := range items {
			plain, err := f.item(item)
			if err != nil {
				return Schedule{}, fmt.Errorf("%s: %w", f.name, err)
			}
			items[j] = plain
		}
		parts[i] = strings.Join(items, ",")
		if items[0] == "*" { // gronx does not recognize "*,5" as unrestricted in the weekday field
			parts[i] = "*"
		}
	}
	s := Schedule{text: text, line: strings.Join(parts, " "),
		every: strings.HasPrefix(parts[1], "*")}
	// gronx searches only a few years ahead; from the day before a leap day, it finds a time for every schedule that
	// ever fires
	if _, ok := s.next(time.Date(2000, 2, 28, 23, 59, 0, 0, time.UTC)); !ok {
		return Schedule{}, fmt.Errorf("%q never occurs: none of its months has that day", text)
	}
	return s, nil
}

func (f field) item(text string) (string, error) {
	span, step, stepped := strings.Cut(text, "/")
	first, last, ranged := strings.Cut(span, "-")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > f.high) {
		return "", fmt.Errorf("%q: the step after \"/\" must be a number from 1 to %d", text,
			f.high)
	}
	if span == "*" {
		return text, nil
	}
	low, err := f.value(first)
	if err != nil {
		return "", err
	}
	if !ranged && stepped {
		return "", fmt.Errorf("%q: a step needs a range before it: use \"%d-%d/%s\" or \"*/%s\"",
			text, low, f.high, step, step)
	}
	if !ranged {
		return strconv.Itoa(low), nil
	}
	high, err := f.value(last)
	if err != nil {
		return "", err
	}
	if f.high == 7 && high == 0 && low > 0 { // a range may end on a Sunday that is written as 0
		high = 7
	}
	if high < low {
		return "", fmt.Errorf("%q is a reversed range; use two ranges, separated by a comma",
			text)
	}
	plain := fmt.Sprintf("%d-%d", low, high)
	if stepped {
		plain += "/" + step
	}
	return plain, nil
}

func (f field) value(text string) (int, error) {
	if i := strings.Index(f.words, text); len(text) == 3 && i >= 0 && i%3 == 0 {
		return f.low + i/3, nil
	}
	number := text != "" && strings.Trim(text, "0123456789") == ""
	n, err := strconv.Atoi(text)
	switch {
	case number && err == nil && len(text) <= 2 && n >= f.low && n <= f.high:
		return n, nil
	case number:
		return 0, fmt.Errorf("%q is not in the range from %d to %d", text, f.low, f.high)
	case text == "":
		return 0, errors.New("a number is missing")
	case text == "?":
		return 0, errors.New(`"?" is not supported; use "*"`)
	}
	like := fmt.Sprintf("a number from %d to %d", f.low, f.high)
	if f.words != "" {
		like += fmt.Sprintf(" or a name like %q", f.words[:3])
	}
	return 0, fmt.Errorf(
		`%q is invalid; use "*", %s, a range with "-", a step with "/", or several with ","`,
		text, like)
}

// next returns the first scheduled time after wall. Both are wall-clock times, represented in UTC.
func (s Schedule) next(wall time.Time) (time.Time, bool) {
	if s.line == "" {
		return time.Time{}, false
	}
	at, err := gronx.NextTickAfter(s.line, wall.Truncate(time.Minute), false)
	return at, err == nil
}

// Next returns the first instant after t at which the schedule fires in a time zone. It returns the zero time if the
// schedule never fires again.
//
// If the hour field lists hours, the schedule fires once a day at each time. If the clock skips a time, the schedule
// fires right after the gap. If the clock shows a time twice, the schedule fires only the first time. If the hour field
// begins with "*", the schedule follows elapsed time.
func (s Schedule) Next(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	if s.every {
		return s.nextHourly(t)
	}
	wall, ok := s.next(furthest(t))
	if !ok {
		return time.Time{}
	}
	return instant(wall, zone)
}

// nextHourly is Next for hour fields that begin with "*". Between clock changes, wall-clock time and elapsed time
// advance together.
func (s Schedule) nextHourly(after time.Time) time.Time {
	const most = 200 // clock changes, enough for several decades
	wall := wallClock(after)
	for range most {
		next, ok := s.next(wall)
		if !ok {
			break
		}
		_, end := after.ZoneBounds()
		at := next.Add(-offset(after)).In(after.Location())
		if end.IsZero() || at.Before(end) {
			return at
		}
		after = end
		wall = wallClock(after).Add(-time.Minute) // the instant of the change may match too
	}
	return time.Time{}
}

// wallClock returns the time that a clock in the zone shows at an instant, represented in UTC.
func wallClock(at time.Time) time.Time { return at.Add(offset(at)).UTC() }

func offset(at time.Time) time.Duration {
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

// furthest returns the greatest wall-clock minute that the clock has shown at or before an instant.
func furthest(at time.Time) time.Time {
	wall := wallClock(at)
	if start, _ := at.ZoneBounds(); !start.IsZero() {
		before := start.Add(-time.Nanosecond)
		if until := wallClock(before).Truncate(time.Minute); until.After(wall) {
			return until
		}
	}
	return wall.Truncate(time.Minute)
}

// instant returns the first instant at which a clock in the zone shows a wall-clock time. If the clock skips that time,
// instant returns the first instant after the gap.
func instant(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
	start, end := at.ZoneBounds()
	switch shown := wallClock(at); {
	case shown.After(wall): // the clock skips this time; start is the end of the gap
		return start
	case shown.Before(wall): // the clock skips this time; end is the end of the gap
		return end
	}
	if start.IsZero() {
		return at
	}
	before := offset(start.Add(-time.Nanosecond))
	if earlier := wall.Add(-before).In(zone); earlier.Before(start) {
		return earlier
	}
	return at
}

func location(name string, local *time.Location) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf(`unknown time zone %q; use a name like "Europe/Berlin" or "UTC"`,
			name)
	}
	return zone, nil
}
