package terminal

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/grapheme"
	"gcity/tui/widget"
)

// Search is a search in the pane. The zero value finds nothing.
type Search struct {
	Text string
	Re   *regexp.Regexp // nil = no search
	Hits []Hit          // matches in the frozen content
	At   int            // index of the current match
}

// Hit is a match: a line and a range of its columns.
type Hit struct{ Line, From, To int }

// MaxHits is the maximum number of matches. The newest matches are kept.
const MaxHits = 9999

// NewSearch compiles the typed text as a regular expression or, if it is invalid, as literal text. Text in lower case
// also matches upper case.
func NewSearch(text string) Search {
	if text == "" {
		return Search{}
	}
	flags := ""
	if text == strings.ToLower(text) {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + text)
	if err != nil {
		re = regexp.MustCompile(flags + regexp.QuoteMeta(text))
	}
	return Search{Text: text, Re: re}
}

// Find searches lines and stores the last matches, at most MaxHits.
func (s *Search) Find(lines []PaneLine) {
	s.Hits, s.At = nil, 0
	if s.Re == nil {
		return
	}
	for i, l := range slices.Backward(lines) {
		for _, h := range slices.Backward(s.In(l.Text)) {
			h.Line = i
			s.Hits = append(s.Hits, h)
		}
		if len(s.Hits) >= MaxHits {
			break
		}
	}
	s.Hits = s.Hits[:min(len(s.Hits), MaxHits)]
	slices.Reverse(s.Hits)
}

// In returns the matches in a single line.
func (s *Search) In(text string) []Hit {
	bare := text
	if !widget.IsASCII(text) {
		bare = ansi.Strip(text)
	}
	var cols offsetColumns
	var hits []Hit
	for _, at := range s.Re.FindAllStringIndex(bare, -1) {
		if cols == nil {
			cols = columnOffsets(bare)
		}
		h := Hit{From: cols.before(at[0]), To: cols.after(at[1])}
		if at[1] > at[0] && h.To > h.From && (len(hits) == 0 || hits[len(hits)-1] != h) {
			hits = append(hits, h)
		}
	}
	return hits
}

// offsetColumns maps byte offsets in a line to columns.
type offsetColumns []struct{ at, col int }

func columnOffsets(s string) offsetColumns {
	edges := make(offsetColumns, 1, len(s)+1)
	at := 0
	grapheme.Walk(s, func(part string, col, w int) bool {
		at += len(part)
		edges = append(edges, struct{ at, col int }{at, col + w})
		return true
	})
	return edges
}

func (e offsetColumns) before(at int) int {
	i := sort.Search(len(e), func(i int) bool { return e[i].at > at })
	return e[i-1].col
}

func (e offsetColumns) after(at int) int {
	i := sort.Search(len(e), func(i int) bool { return e[i].at >= at })
	return e[min(i, len(e)-1)].col
}

// highlighted returns lines with search matches highlighted. first is the number of lines[0] in the frozen content.
func (p *Pane) highlighted(lines []PaneLine, first int) []PaneLine {
	s := &p.Search
	if s.Re == nil {
		return lines
	}
	out := make([]PaneLine, len(lines))
	for i, l := range lines {
		out[i] = l
		var all []widget.Span
		for _, h := range s.In(l.Text) {
			on := Inverse
			if p.FrozenPicture != nil && s.At < len(s.Hits) && s.Hits[s.At] ==
				(Hit{first + i, h.From, h.To}) {
				on = currentMatch
			}
			all = append(all, widget.Span{From: h.From, To: h.To, Style: on})
		}
		if len(all) > 0 {
			out[i].Text = widget.Overlay(l.Text, all...)
		}
	}
	return out
}

const currentMatch = "\x1b[1;4;7m"

// Nearest selects the last match at or above the given line, or else the first match.
func (s *Search) Nearest(line int) {
	s.At = 0
	for i, h := range s.Hits {
		if h.Line <= line {
			s.At = i
		}
	}
}

// Next moves n matches forward from the current match, and wraps around.
func (s *Search) Next(n int) {
	if k := len(s.Hits); k > 0 {
		s.At = ((s.At+n)%k + k) % k
	}
}

// Reveal scrolls to the current match in a pane of w columns and h rows.
func (p *Pane) Reveal(w, h int) {
	if p.FrozenPicture == nil || p.Search.At >= len(p.Search.Hits) {
		return
	}
	at := p.Search.Hits[p.Search.At]
	var program Picture
	if p.FrozenPicture.Full {
		var gone removed
		program, gone = p.compacted(*p.FrozenPicture, w, h)
		at = Hit{shownBefore(at.Line, gone.rows), shownBefore(at.From, gone.columns),
			shownBefore(at.To, gone.columns)}
	}
	if at.From < p.X || at.To > p.X+w {
		p.X = 0
		if at.To > w {
			p.X = max(0, at.From-w/3)
		}
	}
	if p.FrozenPicture.Full {
		if first := p.firstRow(program, h); at.Line < first || at.Line >= first+h {
			p.Y, p.YChosen = max(0, at.Line-h/3), true
		}
		return
	}
	lines := p.FrozenPicture.Lines
	bottom := p.moved(lines, p.Top, h-1, w)
	if at.Line < p.Top.line || at.Line > bottom.line || at.Line == bottom.line &&
		p.height(lines[at.Line], w) > bottom.row+1 {
		p.Top = p.moved(lines, rowPosition{line: at.Line}, -h/3, w)
	}
	if end := p.LastTop(lines, w, h); end.before(p.Top) {
		p.Top = end
	}
}

// Bottom returns the last visible line of the frozen content.
func (p *Pane) Bottom(w, h int) int {
	if p.FrozenPicture.Full {
		return len(p.FrozenPicture.Lines)
	}
	return p.moved(p.FrozenPicture.Lines, p.Top, h-1, w).line
}
