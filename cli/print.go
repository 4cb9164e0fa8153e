package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/internal/screen"
)

// The few colours of the tables: meaning only, from the sixteen that every terminal has and every theme sets.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	dim    = "2"
	bold   = "1"
)

// printer writes what a command says: results on out, everything else on err.
type printer struct {
	out, err       io.Writer
	outTTY, errTTY bool
	json           bool // --json
	getenv         func(string) string
	now            func() time.Time
}

// tint colours text if the stream is a terminal that wants colour.
func (p *printer) tint(tty bool, code, text string) string {
	if code == "" || !tty || p.getenv("NO_COLOR") != "" || p.getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// paint is tint for stdout.
func (p *printer) paint(code, text string) string { return p.tint(p.outTTY, code, text) }

// sayf writes a line for a person; with --json it says nothing.
func (p *printer) sayf(format string, args ...any) {
	if !p.json {
		fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// writeJSON writes a value, indented.
func (p *printer) writeJSON(v any) error {
	return p.encode(v, "  ")
}

// encode writes a value as JSON. Characters that a terminal would act on, or that change how others are read, are escaped:
// a reader of the JSON gets them back.
func (p *printer) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.out.Write(screen.EscapeJSON(b.Bytes()))
	return err
}

// writeJSONLine writes a value as one line, for streams.
func (p *printer) writeJSONLine(v any) error {
	return p.encode(v, "")
}

// list is the shape of every list in JSON.
type list[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

func listOf[T any](items []T) list[T] {
	if items == nil {
		items = []T{}
	}
	return list[T]{Items: items, Total: len(items)}
}

// cell is a piece of a table: text with a colour. Its text is cleaned when the table is drawn.
type cell struct{ text, colour string }

func plainCell(text string) cell { return cell{text: text} }

func tinted(text, colour string) cell { return cell{text, colour} }

// table writes aligned columns, two blanks between them. No line is wider than width (0 = any width), and no trailing
// blanks are written.
func (p *printer) table(w io.Writer, width int, head []string, rows [][]cell) error {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = ansi.StringWidth(h)
	}
	for _, row := range rows {
		for i := range row {
			row[i].text = safeLine(row[i].text)
			widths[i] = max(widths[i], ansi.StringWidth(row[i].text))
		}
	}
	heading := make([]cell, len(head))
	for i, h := range head {
		heading[i] = cell{h, dim}
	}
	for _, row := range append([][]cell{heading}, rows...) {
		if _, err := io.WriteString(w, p.row(row, widths, width)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) row(row []cell, widths []int, width int) string {
	var b strings.Builder
	at, owed := 0, 0
	for i, c := range row {
		text := strings.TrimRight(c.text, " ")
		if width > 0 {
			text = ansi.Truncate(text, max(0, width-at-owed), "…")
		}
		if text != "" {
			b.WriteString(strings.Repeat(" ", owed))
			b.WriteString(p.paint(c.colour, text))
			at, owed = at+owed+ansi.StringWidth(text), 0
		}
		owed += widths[i] - ansi.StringWidth(c.text) + 2
	}
	return b.String()
}

// flushRight makes the figures of some columns, and the heads above them, end below each other.
func flushRight(head []string, rows [][]cell, columns ...int) {
	for _, c := range columns {
		widest := len(head[c])
		for _, row := range rows {
			widest = max(widest, len(row[c].text))
		}
		head[c] = fmt.Sprintf("%*s", widest, head[c])
		for i := range rows {
			rows[i][c].text = fmt.Sprintf("%*s", widest, rows[i][c].text)
		}
	}
}

// columns is how wide tables may be: the terminal, or any width into a file.
func (p *printer) columns() int {
	if !p.outTTY {
		return 0
	}
	if w, _, err := terminalSize(p.out); err == nil && w > 0 {
		return w
	}
	return 80
}

// stateColour gives a state the colour that goes with its urgency.
func stateColour(s city.State) string {
	switch s {
	case city.Running:
		return green
	case city.Failed, city.Quarantined:
		return red
	case city.Backoff, city.Stopping, city.Draining, city.Unknown:
		return yellow
	case city.Starting, city.Waiting:
		return cyan
	default:
		return dim
	}
}

// span writes a duration the way a person says it: "48s", "12m", "3h12m", "2d4h".
func span(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// percent is the share of one processor that somebody takes, "-" where nobody measured it.
func percent(u *city.Usage) string {
	switch {
	case u == nil:
		return "-"
	case u.CPU < 9.95:
		return fmt.Sprintf("%.1f%%", u.CPU)
	}
	return fmt.Sprintf("%.0f%%", u.CPU)
}

// memory is the resident memory that somebody takes, "-" where nobody measured it.
func memory(u *city.Usage) string {
	if u == nil {
		return "-"
	}
	return byteSize(uint64(max(0, u.RSS)))
}

// exact writes a duration as a configuration does: "5m", "1h30m".
func exact(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// age is how long ago t was; "-" if it never was.
func (p *printer) age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return span(p.now().Sub(t))
}

const (
	timeOfDay  = "15:04:05"
	dayAndTime = "2006-01-02 15:04:05"
)

// clock names a moment near now: the time of day, with the date if it is another day.
func (p *printer) clock(t time.Time) string { return p.stamps([]time.Time{t})(t) }

// stamps names the moments of a list: all with their date if one of them is of another day.
func (p *printer) stamps(all []time.Time) func(time.Time) string {
	layout, now := timeOfDay, p.now().Local()
	for _, t := range all {
		if t = t.Local(); t.YearDay() != now.YearDay() || t.Year() != now.Year() {
			layout = dayAndTime
		}
	}
	return func(t time.Time) string { return t.Local().Format(layout) }
}

// byteSize writes a number of bytes in the unit that leaves one to four digits: "9.5 KiB", "300 MiB".
func byteSize(n uint64) string {
	value, unit := float64(n), 0
	for value >= 1024 && unit < len("KMGTPE") {
		value /= 1024
		unit++
	}
	switch {
	case unit == 0:
		return fmt.Sprintf("%d B", n)
	case math.Round(value*10) < 100:
		return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[unit-1])
	}
	return fmt.Sprintf("%.0f %ciB", value, "KMGTPE"[unit-1])
}
