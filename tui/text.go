package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const blank = "                                                                                                    "

func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x7f || s[i] < 0x20 {
			return false
		}
	}
	return true
}

// width is the number of columns of a text that may hold styles.
func width(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// cut shortens plain text to w columns; more says that something is missing.
func cut(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && isASCII(s) {
		return s
	}
	if isASCII(s) {
		if w <= 2 {
			return s[:w]
		}
		return s[:w-1] + more
	}
	return ansi.Truncate(s, w, more)
}

// terse is a text without what explains it, behind a semicolon or a colon, where w columns do not hold that.
func terse(s string, w int) string {
	for _, end := range []string{";", ":"} {
		if width(s) > w {
			s, _, _ = strings.Cut(s, end)
		}
	}
	return s
}

// fit cuts or pads plain text to exactly w columns.
func fit(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	s = cut(s, w, more)
	return s + blanks(w-width(s))
}

// nameEnd is how much of a name's end is kept when it is cut: instances of a pool differ there.
const nameEnd = 6

// fitName cuts or pads a name to exactly w columns; its beginning and its end stay, and of a qualified one the beginning
// of the part behind the slash: a rig is shortened first.
func fitName(s string, w int, more string) string {
	all := width(s)
	if rig, bare, ok := strings.Cut(s, "/"); ok && all > w && w >= 12 {
		room := max(2, w-width(bare)-1)
		if width(rig) > room {
			rig = ansi.Truncate(rig, room, more)
		}
		return fit(rig+"/"+fitEnds(bare, w-width(rig)-1, more), w, "")
	}
	return fitEnds(s, w, more)
}

// fitEnds cuts or pads a text to exactly w columns, in the middle.
func fitEnds(s string, w int, more string) string {
	all := width(s)
	end := min(max(nameEnd, w/2), w-width(more)-1)
	if all <= w || end < 1 {
		return fit(s, w, more)
	}
	tail := ansi.TruncateLeft(s, all-end, "")
	return fit(ansi.Truncate(s, w-width(more)-width(tail), "")+more+tail, w, "")
}

// right cuts or pads plain text to exactly w columns, its end at the right.
func right(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	s = cut(s, w, more)
	return blanks(w-width(s)) + s
}

// crop shows columns of a styled line, exactly w of them.
func crop(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if isASCII(s) {
		if len(s) >= w {
			return s[:w]
		}
		return s + blanks(w-len(s))
	}
	s = ansi.Truncate(s, w, "")
	return s + reset + blanks(w-ansi.StringWidth(s))
}

// age says how long something has lasted in at most four columns: "8s", "22m", "3h12", "2d".
func age(d time.Duration) string {
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

// tenth is the least that lasted tells from nothing.
const tenth = time.Second / 10

// lasted says how long something took that is over, short times in tenths: "0.8s", "12s", "3h12".
func lasted(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Truncate(tenth).Seconds())
	}
	return age(d)
}

// left says how long something still takes: "8s", "1m12s", "54m", "3h12m", "2d".
func left(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int((d + time.Second - 1).Seconds()))
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// span says how long a duration is that somebody has set: "5m", "1m30s", "2h".
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// clock is a time of day, with the day when it is not today's.
func clock(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 02 15:04")
}

// count says "1 agent", "3 agents".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// times says how often: "once", "3 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// number shows 0 as a dash: nothing to see.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
