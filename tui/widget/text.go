package widget

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/describe"
	"gcity/internal/span"
)

const blank = "                                                  " +
	"                                                  "

func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x7f || s[i] < 0x20 {
			return false
		}
	}
	return true
}

// Width returns the number of columns that text occupies. The text can contain styles.
func Width(s string) int {
	if IsASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Cut shortens plain text to w columns. more replaces the omitted text.
func Cut(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && IsASCII(s) {
		return s
	}
	if IsASCII(s) {
		if w <= 2 {
			return s[:w]
		}
		return s[:w-1] + more
	}
	return ansi.Truncate(s, w, more)
}

// DropExplanation drops the explanation (the part after a semicolon or colon) from text that does not fit into w
// columns.
func DropExplanation(s string, w int) string {
	for _, end := range []string{";", ":"} {
		if Width(s) > w {
			s, _, _ = strings.Cut(s, end)
		}
	}
	return s
}

// Fit cuts or pads plain text to exactly w columns.
func Fit(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	s = Cut(s, w, more)
	return s + Spaces(w-Width(s))
}

// nameEnd is how many columns at the end of a cut name are kept if they fit. The names of pool members differ there.
const nameEnd = 6

// FitName cuts or pads a name to exactly w columns. It keeps the beginning and the end of the name.
func FitName(s string, w int, more string) string {
	all := Width(s)
	if rig, bare, ok := strings.Cut(s, "/"); ok && all > w && w >= 12 {
		room := max(2, w-Width(bare)-1)
		if Width(rig) > room {
			rig = ansi.Truncate(rig, room, more)
		}
		return Fit(rig+"/"+fitEnds(bare, w-Width(rig)-1, more), w, "")
	}
	return fitEnds(s, w, more)
}

func fitEnds(s string, w int, more string) string {
	all := Width(s)
	end := min(max(nameEnd, w/2), w-Width(more)-1)
	if all <= w || end < 1 {
		return Fit(s, w, more)
	}
	tail := ansi.TruncateLeft(s, all-end, "")
	return Fit(ansi.Truncate(s, w-Width(more)-Width(tail), "")+more+tail, w, "")
}

// FitRight cuts or pads plain text to exactly w columns, aligned to the right.
func FitRight(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	s = Cut(s, w, more)
	return Spaces(w-Width(s)) + s
}

// Crop returns exactly w columns of a styled line.
func Crop(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if IsASCII(s) {
		if len(s) >= w {
			return s[:w]
		}
		return s + Spaces(w-len(s))
	}
	s = ansi.Truncate(s, w, "")
	return s + Reset + Spaces(w-ansi.StringWidth(s))
}

// CutStyled returns exactly w columns of a styled line. If the line is too long, the given symbol replaces its end.
func CutStyled(s string, w int, more string) string {
	if room := w - Width(more); Width(strings.TrimRight(ansi.Strip(s), " ")) > w && room > 0 {
		return Crop(s, room) + more
	}
	return Crop(s, w)
}

// Age formats an age in at most four columns: "8s", "22m", "3h12", "2d".
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 10*time.Hour:
		return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Since formats the time from t to now, like Age.
func Since(t, now time.Time) string { return Age(now.Sub(t)) }

// Ago returns text that says how long ago t was: "22m ago".
func Ago(t, now time.Time) string { return Since(t, now) + " ago" }

// Elapsed formats the duration of something that has ended: "12ms", "0.8s", "12s", "3h12".
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return span.Took(d)
	}
	return Age(d)
}

// Until formats the time that remains until at: "8s", "1m02s", "5m", "54m", "3h12m", "2d". It counts whole seconds of
// the clock, so that a timeout of 20s never shows as 21s.
func Until(at, now time.Time) string {
	s := max(0, at.Unix()-now.Unix())
	switch m, h := s/60, s/3600; {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case m < 10:
		return strings.TrimSuffix(fmt.Sprintf("%dm%02ds", m, s%60), "00s")
	case h < 1:
		return fmt.Sprintf("%dm", m)
	case h < 48:
		return strings.TrimSuffix(fmt.Sprintf("%dh%02dm", h, m%60), "00m")
	default:
		return fmt.Sprintf("%dd", h/24)
	}
}

// Duration formats a configured duration: "5m", "1m30s", "2h".
func Duration(d time.Duration) string { return span.Text(d) }

// Clock formats a time of day, with the date unless it is today.
func Clock(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 02 15:04")
}

// Count returns "1 agent", "3 agents".
func Count(n int, what string) string { return describe.Count(n, what) }

// AppendCount appends "3 running" to parts, unless n is 0.
func AppendCount(parts []string, n int, what string) []string {
	if n == 0 {
		return parts
	}
	return append(parts, fmt.Sprintf("%d %s", n, what))
}

// Times returns "once", "3 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Number formats a number. For 0, it returns a dash.
func Number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// LineCount returns the number of lines in text.
func LineCount(s string) int { return strings.Count(s, "\n") + 1 }

// Lasted returns text that says how long an agent has been in a state: "for 3m". For a quarantine it is "3m ago",
// because "for 3m" could mean the length of the quarantine.
func Lasted(s city.State, d time.Duration) string {
	if s == city.Quarantined {
		return Age(d) + " ago"
	}
	return "for " + Age(d)
}
