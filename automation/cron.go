package automation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/adhocore/gronx"
)

// Schedule is a cron line: minute, hour, day of the month, month, day of the week. Where both kinds of day are
// restricted, either is enough; a kind that begins with "*" does not restrict. The zero value never comes.
//
// The calendar is gronx's, and it is only ever asked in UTC: what it finds there is a time on the wall, and when
// that time comes, in a zone whose clocks are set forward and back, is decided here. Its own check lets through
// seconds, years and other dialects, so fields are checked here too.
type Schedule struct {
	text  string
	line  string // five fields in numbers
	every bool   // the hours begin with "*"
}

func (s Schedule) String() string { return s.text }

// macros are the names that stand for a line.
func macros() map[string]string {
	return map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
		"@weekly":  "0 0 * * 0",
		"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	}
}

// field is one column of a cron line.
type field struct {
	name      string
	low, high int
	words     string // that stand for numbers from low on, by three letters
}

func fields() [5]field {
	return [5]field{
		{"minute", 0, 59, ""}, {"hour", 0, 23, ""}, {"day of the month", 1, 31, ""},
		{"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
		{"day of the week", 0, 7, "sunmontuewedthufrisat"},
	}
}

// ParseSchedule reads a cron line or a name like @daily. A line that never comes, such as one for the 31st of
// February, is an error.
func ParseSchedule(text string) (Schedule, error) {
	line := strings.ToLower(strings.TrimSpace(text))
	if strings.HasPrefix(line, "@") {
		full, ok := macros()[line]
		if !ok {
			return Schedule{}, fmt.Errorf("%q is not known; there are @hourly, @daily, @weekly, "+
				"@monthly and @yearly", text)
		}
		line = full
	}
	parts := strings.Fields(line)
	if len(parts) != len(fields()) {
		return Schedule{}, fmt.Errorf("%q has %d fields; a cron line has five: minute, hour, day "+
			"of the month, month, day of the week, "+
			"like \"0 3 * * *\" for every day at three", text, len(parts))
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
	}
	s := Schedule{text: text, line: strings.Join(parts, " "),
		every: strings.HasPrefix(parts[1], "*")}
	// The search gives up after some years without; from a leap day's eve it finds what there is.
	if _, ok := s.next(time.Date(2000, 2, 28, 23, 59, 0, 0, time.UTC)); !ok {
		return Schedule{}, fmt.Errorf("%q never comes: no month of it has such a day", text)
	}
	return s, nil
}

// item checks one element of a field's list, and gives it with numbers for words.
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
		return "", fmt.Errorf("%q: a step needs a range before it: write \"%d-%d/%s\" or \"*/%s\"",
			text, low, f.high, step, step)
	}
	if !ranged {
		return strconv.Itoa(low), nil
	}
	high, err := f.value(last)
	if err != nil {
		return "", err
	}
	if f.high == 7 && high == 0 && low > 0 { // a week may end on Sunday
		high = 7
	}
	if high < low {
		return "", fmt.Errorf("%q goes backwards; write two, with a comma between them", text)
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
		return 0, fmt.Errorf("%q is not from %d to %d", text, f.low, f.high)
	case text == "":
		return 0, errors.New("a number is missing")
	case text == "?":
		return 0, errors.New(`"?" is another program's; write "*"`)
	}
	like := fmt.Sprintf("a number from %d to %d", f.low, f.high)
	if f.words != "" {
		like += fmt.Sprintf(" or a word like %q", f.words[:3])
	}
	return 0, fmt.Errorf("%q is not understood; write \"*\", %s, a range with \"-\", a step with "+
		"\"/\", or several with \",\"", text, like)
}

// next is the first time on the wall after one; both are written as times in UTC.
func (s Schedule) next(wall time.Time) (time.Time, bool) {
	if s.line == "" {
		return time.Time{}, false
	}
	at, err := gronx.NextTickAfter(s.line, wall.Truncate(time.Minute), false)
	return at, err == nil
}

// Next is the first instant after another at which the schedule comes in a time zone, zero if it never does.
//
// Hours that are named come once on every day that has them by the calendar: what the clock leaves out when it is set
// forward comes at the first instant after, what it shows twice when it is set back comes the first time. Hours
// that begin with "*" follow the time that really passes: every showing counts, and what is left out is left out.
func (s Schedule) Next(after time.Time, zone *time.Location) time.Time {
	after = after.In(zone)
	if s.every {
		return s.passing(after)
	}
	wall, ok := s.next(furthest(after))
	if !ok {
		return time.Time{}
	}
	return instant(wall, zone)
}

// passing is Next for hours that begin with "*": within a stretch of time in which the zone keeps its distance to
// UTC, time on the wall and time that passes are the same.
func (s Schedule) passing(after time.Time) time.Time {
	const most = 200 // changes of the clock that are looked across: decades
	wall := onWall(after)
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
		wall = onWall(after).Add(-time.Minute) // the change itself may be a time to come
	}
	return time.Time{}
}

// onWall is what a clock shows at an instant, written as a time in UTC.
func onWall(at time.Time) time.Time { return at.Add(offset(at)).UTC() }

func offset(at time.Time) time.Duration {
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

// furthest is the latest minute that the clock has shown until an instant: more than it shows then, if it was set back.
func furthest(at time.Time) time.Time {
	wall := onWall(at)
	if start, _ := at.ZoneBounds(); !start.IsZero() {
		before := start.Add(-time.Nanosecond)
		if until := onWall(before).Truncate(time.Minute); until.After(wall) {
			return until
		}
	}
	return wall.Truncate(time.Minute)
}

// instant is when a clock first shows a time, or, if it is set forward across it, the first instant after that.
func instant(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
	start, end := at.ZoneBounds()
	switch shown := onWall(at); {
	case shown.After(wall): // left out; at is after the change
		return start
	case shown.Before(wall): // left out; at is before the change
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

// location finds a time zone by its name.
func location(name string, local *time.Location) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q; zones are named by places, like "+
			"\"Europe/Berlin\", or \"UTC\"", name)
	}
	return zone, nil
}
