package terminal

import (
	"slices"

	"gcity/tui/widget"

	"github.com/charmbracelet/x/ansi"
)

type bookmark struct {
	agent, session string
	rule           string
	// the screen that contains the bookmark; on another screen, context locates it
	screen  Screen
	line    uint64   // number of the line below the bookmark, counted as in a screen.Shot
	context []string // lines above the bookmark, without styles
}

const (
	maxBookmarks = 50
	contextLines = 6
)

// Bookmark sets a bookmark below the newest line, or removes the bookmark that is already there. If it can do neither,
// it returns the reason.
func (p *Pane) Bookmark(rule string) string {
	n := &p.News
	switch {
	case n.Screen == nil || n.Ended:
		return "no output follows this point"
	case p.Full():
		return "a full-screen program has no lines to mark"
	}
	shot := n.Screen.Shot(contextLines)
	shown := shot.Lines[:used(shot.Lines, shot.Y)]
	if k := len(shown); k > 0 && k-1 == shot.Y && blankText(shown[k-1]) {
		shown = shown[:k-1] // omit the empty line in which the next output will begin
	}
	at := shot.ScrolledOff + uint64(len(shown))
	p.Version++
	for i := range p.bookmarks {
		if m := &p.bookmarks[i]; m.screen == n.Screen && m.line == at {
			p.bookmarks = slices.Delete(slices.Clone(p.bookmarks), i, i+1)
			return ""
		}
	}
	above := slices.Clone(Tail(slices.Concat(shot.Past, shown), contextLines))
	for i := range above {
		above[i] = ansi.Strip(above[i])
	}
	p.bookmarks = Tail(append(slices.Clone(p.bookmarks),
		bookmark{n.Agent, n.Session, rule, n.Screen, at, above}), maxBookmarks)
	return ""
}

func (p *Pane) locateBookmarks() {
	n := &p.News
	if n.Screen == nil {
		return
	}
	var lines []string
	var first uint64
	for i := range p.bookmarks {
		m := &p.bookmarks[i]
		if m.agent != n.Agent || m.session != n.Session || m.screen == n.Screen ||
			len(m.context) == 0 {
			continue
		}
		if lines == nil {
			shot := n.Screen.Shot(widget.Unlimited)
			lines, first = unstyled(shot.Past, shot.Lines),
				shot.ScrolledOff-uint64(len(shot.Past))
		}
		if end := endOfLast(lines, m.context); end >= 0 {
			m.screen, m.line = n.Screen, first+uint64(end)
		}
	}
}

// LinesSince returns the number of lines on a screen that follow the output of an earlier screen of the same session.
// It reports false if the earlier output is not found.
func LinesSince(earlier, now Screen) (uint64, bool) {
	// the line of the cursor can still change
	shot := earlier.Shot(contextLines)
	context := Tail(unstyled(shot.Past, shot.Lines[:shot.Y]), contextLines)
	if len(context) == 0 {
		return 0, false
	}
	shot = now.Shot(widget.Unlimited)
	lines := unstyled(shot.Past, shot.Lines[:shot.Y])
	end := endOfLast(lines, context)
	return uint64(len(lines) - end), end >= 0
}

func unstyled(past, lines []string) []string {
	all := slices.Concat(past, lines)
	for i := range all {
		all[i] = ansi.Strip(all[i])
	}
	return all
}

// endOfLast returns the index after the last occurrence of part in lines, or -1.
func endOfLast(lines, part []string) int {
	for end := len(lines); end >= len(part); end-- {
		if slices.Equal(lines[end-len(part):end], part) {
			return end
		}
	}
	return -1
}

// withBookmarks inserts a labeled rule at each bookmark. first is the number of the first line.
func (p *Pane) withBookmarks(lines []string, first uint64) []PaneLine {
	out := make([]PaneLine, 0, len(lines))
	next := func(from, to uint64) {
		for i := range p.bookmarks {
			if m := &p.bookmarks[i]; m.screen == p.News.Screen && m.line >= from && m.line < to {
				out = append(out, PaneLine{Rule: m.rule})
			}
		}
	}
	for i, s := range lines {
		at := first + uint64(i)
		next(at, at+1)
		out = append(out, PaneLine{Text: s})
	}
	end := first + uint64(len(lines))
	next(end, ^uint64(0))
	return out
}
