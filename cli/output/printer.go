package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/internal/screen"
)

// SGR codes of colors and styles.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
	Dim    = "2"
	Bold   = "1"
)

// Printer writes the output of a command: results to Out, everything else to Err.
type Printer struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
	JSON           bool
	Getenv         func(string) string
	Now            func() time.Time

	failed atomic.Pointer[error] // the first error of Out
}

// Tint colors text if the stream is a terminal with colors.
func (p *Printer) Tint(tty bool, code, text string) string {
	if code == "" || !tty || p.Getenv("NO_COLOR") != "" || p.Getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Paint colors text if stdout is a terminal with colors.
func (p *Printer) Paint(code, text string) string { return p.Tint(p.OutTTY, code, text) }

// Bold returns a line of text in bold, safe for a terminal.
func (p *Printer) Bold(text string) string { return p.Paint(Bold, SafeLine(text)) }

// Sayf writes a line of text. With --json it writes nothing. OutputError returns its error.
func (p *Printer) Sayf(format string, args ...any) {
	if p.JSON {
		return
	}
	_, err := fmt.Fprintf(p.Out, format+"\n", args...)
	p.keepError(err)
}

func (p *Printer) keepError(err error) {
	if err != nil {
		p.failed.CompareAndSwap(nil, &err)
	}
}

// OutputError returns the first error of Sayf, WriteJSON and WriteJSONLine, or nil.
func (p *Printer) OutputError() error {
	if err := p.failed.Load(); err != nil {
		return fmt.Errorf("the output is incomplete: %w", *err)
	}
	return nil
}

// WriteJSON writes a value with indentation.
func (p *Printer) WriteJSON(v any) error {
	return p.encode(v, "  ")
}

// Result writes a value as JSON or, without --json, a line of text.
func (p *Printer) Result(v any, format string, args ...any) error {
	if p.JSON {
		return p.WriteJSON(v)
	}
	p.Sayf(format, args...)
	return nil
}

func (p *Printer) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.Out.Write(screen.EscapeJSON(b.Bytes()))
	p.keepError(err)
	return err
}

// WriteJSONLine writes a value as JSON on one line, for streams.
func (p *Printer) WriteJSONLine(v any) error {
	return p.encode(v, "")
}

// List is the JSON form of all lists.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// ListOf returns a List of items. In JSON, its items are never null.
func ListOf[T any](items []T) List[T] {
	if items == nil {
		items = []T{}
	}
	return List[T]{Items: items, Total: len(items)}
}

// Cell is a table cell. Table makes its text safe for a terminal.
type Cell struct {
	Text, Color string
	// Keep is a part of Text. If the cell is too wide, the text before Keep is truncated instead of Keep.
	Keep string
}

// Plain returns a Cell without a color.
func Plain(text string) Cell { return Cell{Text: text} }

// Tinted returns a Cell with a color.
func Tinted(text, color string) Cell { return Cell{Text: text, Color: color} }

// Table is a table with aligned columns.
type Table struct {
	Head []string
	Rows [][]Cell
}

// NewTable returns a table without rows.
func NewTable(head ...string) *Table { return &Table{Head: head} }

// Add adds a row. A value that is not a Cell is shown without a color.
func (t *Table) Add(row ...any) {
	cells := make([]Cell, len(row))
	for i, v := range row {
		cell, ok := v.(Cell)
		if !ok {
			cell.Text = fmt.Sprint(v)
		}
		cells[i] = cell
	}
	t.Rows = append(t.Rows, cells)
}

// Table writes a table to Out and truncates each line to the terminal's width.
func (p *Printer) Table(t *Table) error { return p.WriteTable(p.Out, p.Columns(), t) }

// WriteTable writes a table. It truncates each line to width columns; 0 means no limit.
func (p *Printer) WriteTable(w io.Writer, width int, t *Table) error {
	widths := make([]int, len(t.Head))
	heading := make([]Cell, len(t.Head))
	for i, h := range t.Head {
		widths[i], heading[i] = ansi.StringWidth(h), Tinted(h, Dim)
	}
	for _, row := range t.Rows {
		for i := range row {
			row[i].Text = SafeLine(row[i].Text)
			widths[i] = max(widths[i], ansi.StringWidth(row[i].Text))
		}
	}
	for _, row := range append([][]Cell{heading}, t.Rows...) {
		if _, err := io.WriteString(w, p.row(row, widths, width)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Shrink truncates the cells of a column if the last column would otherwise get less than a third of the width. It
// keeps the end of a path, and the beginning of other text. A width of 0 means no limit.
func (t *Table) Shrink(column, width int) {
	last := len(t.Head) - 1
	widths := make([]int, len(t.Head))
	for _, row := range t.Rows {
		for i := range row {
			widths[i] = max(widths[i], len(t.Head[i]), ansi.StringWidth(SafeLine(row[i].Text)))
		}
	}
	left := width - min(widths[last], width/3)
	for i, w := range widths[:last] {
		if left -= 2; i != column {
			left -= w
		}
	}
	if width == 0 || left >= widths[column] {
		return
	}
	for _, row := range t.Rows {
		text := SafeLine(row[column].Text)
		most := max(len(t.Head[column]), left)
		if over := ansi.StringWidth(text) - most; over > 0 && strings.HasPrefix(text, "/") {
			row[column].Text = ansi.TruncateLeft(text, over+1, "…")
		} else {
			row[column].Text = ansi.Truncate(text, most, "…")
		}
	}
}

func (p *Printer) row(row []Cell, widths []int, width int) string {
	var b strings.Builder
	at, owed := 0, 0
	for i, c := range row {
		text := strings.TrimRight(c.Text, " ")
		if width > 0 {
			text = truncate(text, c.Keep, max(0, width-at-owed))
		}
		if text != "" {
			b.WriteString(strings.Repeat(" ", owed))
			b.WriteString(p.Paint(c.Color, text))
			at, owed = at+owed+ansi.StringWidth(text), 0
		}
		owed += widths[i] - ansi.StringWidth(c.Text) + 2
	}
	return b.String()
}

// truncate shortens text to at most width columns. It shortens what follows keep first, then what precedes it.
func truncate(text, keep string, width int) string {
	before, after, found := strings.Cut(text, keep)
	left := width - ansi.StringWidth(before) - ansi.StringWidth(keep)
	switch {
	case keep == "" || !found || ansi.StringWidth(keep) >= width || left > 0:
		return ansi.Truncate(text, width, "…")
	case left == 0 && after == "":
		return text
	}
	return ansi.Truncate(before, width-ansi.StringWidth(keep)-1, "") + "…" + keep
}

// Fold breaks text at spaces into lines of at most width columns, and indents each line.
func Fold(text string, width int, indent string) string {
	text = ansi.Wrap(text, max(20, width-len(indent)), "")
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

// Hang breaks text at spaces into lines of at most width columns. The first line begins with the string first; the
// others begin with hang spaces.
func Hang(first string, hang int, text string, width int) string {
	line, at, empty := first, ansi.StringWidth(first), true
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		n := ansi.StringWidth(word)
		switch {
		case empty:
			empty = false
		case at+1+n > width:
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, at = strings.Repeat(" ", hang), hang
		default:
			line, at = line+" ", at+1
		}
		line, at = line+word, at+n
	}
	return b.String() + strings.TrimRight(line, " ")
}

// HangTable returns names and their descriptions in two aligned columns. least is the minimum width of the first
// column.
func HangTable(rows [][2]string, least, width int) string {
	widest := least
	for _, r := range rows {
		widest = max(widest, ansi.StringWidth(r[0]))
	}
	var lines []string
	for _, r := range rows {
		first, hang := fmt.Sprintf("  %-*s  ", widest, r[0]), widest+4
		if hang > width/2 {
			lines = append(lines, "  "+strings.TrimRight(r[0], " "))
			first, hang = "      ", 6
		}
		lines = append(lines, Hang(first, hang, r[1], width))
	}
	return strings.Join(lines, "\n")
}

// FlushRight aligns the cells and headings of the given columns to the right.
func (t *Table) FlushRight(columns ...int) {
	for _, c := range columns {
		widest := len(t.Head[c])
		for _, row := range t.Rows {
			widest = max(widest, len(row[c].Text))
		}
		t.Head[c] = fmt.Sprintf("%*s", widest, t.Head[c])
		for _, row := range t.Rows {
			row[c].Text = fmt.Sprintf("%*s", widest, row[c].Text)
		}
	}
}

// TextWidth returns the width of running text: the terminal's, but at most 100 columns, or 80 without a terminal.
func (p *Printer) TextWidth() int {
	if w := p.Columns(); w > 0 {
		return min(w, 100)
	}
	return 80
}

// Columns returns the maximum width of tables, or 0 for no limit if stdout is not a terminal.
func (p *Printer) Columns() int {
	if !p.OutTTY {
		return 0
	}
	if w, _, err := TerminalSize(p.Out); err == nil && w > 0 {
		return w
	}
	return 80
}

// StateColor returns the color for an agent's state.
func StateColor(s city.State) string {
	switch s {
	case city.Running:
		return Green
	case city.Failed, city.Quarantined:
		return Red
	case city.Backoff, city.Stopping, city.Draining, city.Unknown:
		return Yellow
	case city.Starting, city.Waiting:
		return Cyan
	default:
		return Dim
	}
}

// Span formats a duration in a short form: "48s", "12m", "3h12m", "2d4h".
func Span(d time.Duration) string {
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

// Percent formats CPU usage as a percentage of one CPU, or as "-" if it was not measured.
func Percent(u *city.Usage) string {
	switch {
	case u == nil:
		return "-"
	case u.CPU < 9.95:
		return fmt.Sprintf("%.1f%%", u.CPU)
	}
	return fmt.Sprintf("%.0f%%", u.CPU)
}

// Memory formats the resident memory, or returns "-" if it was not measured.
func Memory(u *city.Usage) string {
	if u == nil {
		return "-"
	}
	return ByteSize(uint64(max(0, u.RSS)))
}

// Age formats how long ago t was, or returns "-" for the zero time.
func (p *Printer) Age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return Span(p.Now().Sub(t))
}

const (
	timeOfDay  = "15:04:05"
	dayAndTime = "2006-01-02 15:04:05"
)

// Clock formats a time of day, with the date unless it is today.
func (p *Printer) Clock(t time.Time) string { return p.Stamps([]time.Time{t})(t) }

// Stamps returns a function that formats times, with dates if one of the given times is not from today.
func (p *Printer) Stamps(all []time.Time) func(time.Time) string {
	layout, now := timeOfDay, p.Now().Local()
	for _, t := range all {
		if t = t.Local(); t.YearDay() != now.YearDay() || t.Year() != now.Year() {
			layout = dayAndTime
		}
	}
	return func(t time.Time) string { return t.Local().Format(layout) }
}

// ByteSize formats a number of bytes in the largest suitable unit: "9.5 KiB", "300 MiB".
func ByteSize(n uint64) string {
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

// Warn prints a warning on stderr.
func (p *Printer) Warn(text string) {
	_, _ = p.Err.Write([]byte(p.Tint(p.ErrTTY, Yellow, "warning:") + " " + SafeLine(text) + "\n"))
}

// Note prints a line on stderr, because only results go to stdout.
func (p *Printer) Note(line string) { _, _ = p.Err.Write([]byte(SafeLine(line) + "\n")) }
