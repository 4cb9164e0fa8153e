package automation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // provides the tests' time zones on any machine
)

func TestScheduleProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "has 0 fields; a cron line has five",
		"* * * *":                      "has 4 fields",
		"0 0 3 * * *":                  "has 6 fields",
		"0 3 * * * 2026":               "has 6 fields",
		"@reboot":                      "unknown name",
		"@always":                      "unknown name",
		"60 * * * *":                   `minute: "60" is not in the range from 0 to 59`,
		"* 24 * * *":                   `hour: "24" is not in the range from 0 to 23`,
		"* * 0 * *":                    `day of the month: "0" is not in the range from 1 to 31`,
		"* * * 13 *":                   `month: "13" is not in the range from 1 to 12`,
		"* * * * 8":                    `day of the week: "8" is not in the range from 0 to 7`,
		"* * * * monday":               `"monday" is invalid; use "*", a number from 0 to 7 or a name like "sun"`,
		"* * * foo *":                  `"foo" is invalid; use "*", a number from 1 to 12 or a name like "jan"`,
		"mon * * * *":                  `minute: "mon" is invalid`,
		"-1 * * * *":                   "minute: a number is missing",
		"1- * * * *":                   "minute: a number is missing",
		"1,,2 * * * *":                 "minute: a number is missing",
		"1, * * * *":                   "minute: a number is missing",
		"*/0 * * * *":                  `the step after "/" must be a number from 1 to 59`,
		"*/ * * * *":                   `the step after "/" must be`,
		"*/x * * * *":                  `the step after "/" must be`,
		"*/60 * * * *":                 `the step after "/" must be a number from 1 to 59`,
		"5/15 * * * *":                 `a step needs a range before it: use "5-59/15" or "*/15"`,
		"30-10 * * * *":                `"30-10" is a reversed range`,
		"* * ? * *":                    `"?" is not supported; use "*"`,
		"* * L * *":                    `"l" is invalid`,
		"* * 15W * *":                  `"15w" is invalid`,
		"* * * * fri#2":                `"fri#2" is invalid`,
		"+5 * * * *":                   `"+5" is invalid`,
		"005 * * * *":                  `"005" is not in the range`,
		"0 0 31 2 *":                   "never occurs: none of its months has that day",
		"0 0 30,31 feb *":              "never occurs",
		"0 0 31 4,6,9 */2":             "never occurs",
		"* * * * 1-5-6":                "is invalid",
		"99999999999999999999 * * * *": "is not in the range from 0 to 59",
	} {
		if _, err := ParseSchedule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want … %s …", text, err, want)
		}
	}
}

func TestSchedules(t *testing.T) {
	from := time.Date(2026, 11, 22, 10, 11, 30, 0, time.UTC) // a Sunday
	for text, want := range map[string]string{
		"* * * * *":           "2026-11-22 10:12",
		"11 10 * * *":         "2026-11-23 10:11", // 10:11 today has already begun
		"*/5 * * * *":         "2026-11-22 10:15",
		"0 3 * * *":           "2026-11-23 03:00",
		" 0\t3  * * * ":       "2026-11-23 03:00",
		"@daily":              "2026-11-23 00:00",
		"@Hourly":             "2026-11-22 11:00",
		"@weekly":             "2026-11-29 00:00",
		"@monthly":            "2026-12-01 00:00",
		"@yearly":             "2027-01-01 00:00",
		"@annually":           "2027-01-01 00:00",
		"0 9 * * mon-fri":     "2026-11-23 09:00",
		"0 9 * * FRI-sun":     "2026-11-27 09:00",
		"0 9 * * 7":           "2026-11-29 09:00",
		"0 0 1,15 * *":        "2026-12-01 00:00",
		"0 12 * feb,mar *":    "2027-02-01 12:00",
		"0 12 * feb-apr/2 *":  "2027-02-01 12:00",
		"0 0 13 * fri":        "2026-11-27 00:00", // either field may match
		"0 0 13 * */5":        "2026-12-13 00:00", // a Sunday: a field that begins with * does not restrict the day
		"0 0 13 * *,5":        "2026-12-13 00:00",
		"0 0 */2 * mon":       "2026-11-23 00:00",
		"0 0 29 2 *":          "2028-02-29 00:00",
		"0 0 29 2 */7":        "2032-02-29 00:00", // only on a Sunday
		"10-50/20 8,20 * * *": "2026-11-22 20:10",
		"59 23 31 12 *":       "2026-12-31 23:59",
	} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.Next(from, time.UTC).Format("2006-01-02 15:04"); got != want ||
			s.String() != text {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if at := (Schedule{}).Next(from, time.UTC); !at.IsZero() {
		t.Errorf("zero Schedule: got %v, want no time", at)
	}
}

// On a day when the clock changes, a schedule with a fixed time still fires exactly once. If the clock skips that time,
// the schedule fires right after the gap. Schedules with "*" hours follow elapsed time.
func TestClockChanges(t *testing.T) {
	for _, c := range []struct {
		zone, schedule, from, to string
		want                     []string // in UTC
	}{
		// New York: 2026-03-08 02:00 → 03:00 at 07:00Z; 2026-11-01 02:00 → 01:00 at 06:00Z.
		{"America/New_York", "30 2 * * *", "2026-03-07T12:00Z", "2026-03-09T12:00Z",
			[]string{"03-08 07:00", "03-09 06:30"}},
		{"America/New_York", "30 2 * * *", "2026-10-31T12:00Z", "2026-11-02T12:00Z",
			[]string{"11-01 07:30", "11-02 07:30"}},
		{"America/New_York", "30 1 * * *", "2026-10-31T12:00Z", "2026-11-02T12:00Z",
			[]string{"11-01 05:30", "11-02 06:30"}},
		{"America/New_York", "30 * * * *", "2026-11-01T04:40Z", "2026-11-01T08:00Z",
			[]string{"11-01 05:30", "11-01 06:30", "11-01 07:30"}},
		{"America/New_York", "30 * * * *", "2026-03-08T05:40Z", "2026-03-08T08:00Z",
			[]string{"03-08 06:30", "03-08 07:30"}},
		{"America/New_York", "30 */2 * * *", "2026-03-08T04:40Z", "2026-03-08T09:00Z",
			[]string{"03-08 05:30", "03-08 08:30"}},
		{"America/New_York", "*/20 2 * * *", "2026-03-08T04:40Z", "2026-03-08T12:00Z",
			[]string{"03-08 07:00"}},
		{"America/New_York", "0,30 2,3 * * *", "2026-03-08T04:40Z", "2026-03-08T12:00Z",
			[]string{"03-08 07:00", "03-08 07:30"}},
		{"America/New_York", "*/30 1 * * *", "2026-11-01T04:40Z", "2026-11-01T12:00Z",
			[]string{"11-01 05:00", "11-01 05:30"}},
		// Berlin: 2026-03-29 02:00 → 03:00 at 01:00Z; 2026-10-25 03:00 → 02:00 at 01:00Z.
		{"Europe/Berlin", "30 2 * * *", "2026-03-28T12:00Z", "2026-03-30T12:00Z",
			[]string{"03-29 01:00", "03-30 00:30"}},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24T12:00Z", "2026-10-26T12:00Z",
			[]string{"10-25 00:30", "10-26 01:30"}},
		{"Europe/Berlin", "0 3 * * *", "2026-10-24T12:00Z", "2026-10-25T12:00Z",
			[]string{"10-25 02:00"}},
		{"Europe/Berlin", "0 3 * * *", "2026-03-28T12:00Z", "2026-03-29T12:00Z",
			[]string{"03-29 01:00"}},
		// Lord Howe's clock changes by half an hour, Santiago's at midnight, and Samoa skipped a whole day.
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00Z", "2026-10-04T20:00Z",
			[]string{"10-03 15:30", "10-04 15:15"}},
		{"America/Santiago", "0 0 * * *", "2026-09-05T12:00Z", "2026-09-07T12:00Z",
			[]string{"09-06 04:00", "09-07 03:00"}},
		{"Pacific/Apia", "0 12 * * *", "2011-12-29T12:00Z", "2012-01-01T00:00Z",
			[]string{"12-29 22:00", "12-30 10:00", "12-30 22:00", "12-31 22:00"}},
		{"Europe/Berlin", "0 0 31 12 *", "2026-06-01T00:00Z", "2027-06-01T00:00Z",
			[]string{"12-30 23:00"}},
	} {
		s, err := ParseSchedule(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		zone, at, end := in(t, c.zone), instantOf(t, c.from), instantOf(t, c.to)
		var got []string
		for at = s.Next(at, zone); !at.IsZero() && at.Before(end); at = s.Next(at, zone) {
			got = append(got, at.UTC().Format("01-02 15:04"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %q from %s:\n got %v\nwant %v", c.zone, c.schedule, c.from, got, c.want)
		}
	}
}

func in(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func instantOf(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// No text causes a panic. For a valid schedule, the next time is after now, on a full minute, and never moves
// backwards.
func FuzzSchedule(f *testing.F) {
	for _, text := range []string{"0 3 * * *", "@daily", "*/5 1-3 1,15 jan mon-fri",
		"30 2 29 2 */7", "0 0 31 */2 7", "* * * * * *", "5/15 * * * *", "? L W # *"} {
		f.Add(text, int64(1_790_000_000), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64, where uint8) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		zone := in(t, zones()[int(where)%len(zones())])
		at := time.Unix(1_000_000_000+(unix%1_500_000_000+1_500_000_000)%1_500_000_000, 0)
		for range 3 {
			next := s.Next(at, zone)
			if next.IsZero() || !next.After(at) || next.Second() != 0 {
				t.Fatalf("%q in %s after %v: got %v", text, zone, at.In(zone), next)
			}
			at = next
		}
	})
}

// Leap days on a given weekday can be forty years apart. They are still found.
func TestRareLeapDays(t *testing.T) {
	for step := 1; step <= 7; step++ {
		s, err := ParseSchedule(fmt.Sprintf("0 0 29 2 */%d", step))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
		for at.Year() < 2150 {
			next := s.Next(at, time.UTC)
			if next.IsZero() || next.Day() != 29 || next.Month() != time.February ||
				int(next.Weekday())%step != 0 {
				t.Fatalf("%s after %v: got %v", s, at, next)
			}
			at = next
		}
	}
}

func BenchmarkNext(b *testing.B) {
	zone := in(b, "Europe/Berlin")
	from := time.Date(2026, 11, 22, 10, 11, 0, 0, zone)
	for _, text := range []string{"*/5 * * * *", "0 3 * * *", "30 2 * * mon-fri", "0 0 29 2 *"} {
		s, err := ParseSchedule(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Next(from, zone)
			}
		})
	}
}
