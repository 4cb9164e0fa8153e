package tui

import (
	"slices"

	"github.com/charmbracelet/x/ansi"
)

// notch is a place in an agent's output that a person has marked: behind what was there at that time. It is a rule in
// the pane and goes up with the lines around it.
type notch struct {
	agent, session string
	rule           string
	// in which it has its place; another one of the same session is searched for it
	screen terminal
	line   uint64   // the number of the line behind it, counted as a shot counts
	above  []string // the lines before it, plain, by which it is found again
}

const (
	maxNotches = 50
	// remembered is how many lines before a notch tell its place.
	remembered = 6
)

// notch sets a rule behind the newest line, or takes the one away that is there. It reports why it cannot.
func (p *peek) notch(rule string) string {
	n := &p.news
	switch {
	case n.screen == nil || n.ended:
		return "nothing comes after what is here"
	case p.full():
		return "a full-screen program has no lines that one could tell from later ones"
	}
	shot := n.screen.Shot(remembered)
	shown := shot.Lines[:used(shot.Lines, shot.Y)]
	if k := len(shown); k > 0 && k-1 == shot.Y && blankText(shown[k-1]) {
		shown = shown[:k-1] // where the next line begins
	}
	at := shot.Gone + uint64(len(shown))
	p.version++
	for i := range p.notches {
		if m := &p.notches[i]; m.screen == n.screen && m.line == at {
			p.notches = slices.Delete(slices.Clone(p.notches), i, i+1)
			return ""
		}
	}
	above := slices.Clone(tail(slices.Concat(shot.Past, shown), remembered))
	for i := range above {
		above[i] = ansi.Strip(above[i])
	}
	p.notches = tail(append(slices.Clone(p.notches),
		notch{n.agent, n.session, rule, n.screen, at, above}), maxNotches)
	return ""
}

// place finds the notches of the session again on a screen that is new: the lines before them are looked for.
func (p *peek) place() {
	n := &p.news
	if n.screen == nil {
		return
	}
	var lines []string
	var first uint64
	for i := range p.notches {
		m := &p.notches[i]
		if m.agent != n.agent || m.session != n.session || m.screen == n.screen ||
			len(m.above) == 0 {
			continue
		}
		if lines == nil {
			shot := n.screen.Shot(far)
			lines, first = slices.Concat(shot.Past, shot.Lines), shot.Gone-uint64(len(shot.Past))
			for k := range lines {
				lines[k] = ansi.Strip(lines[k])
			}
		}
		for end := len(lines); end >= len(m.above); end-- {
			if slices.Equal(lines[end-len(m.above):end], m.above) {
				m.screen, m.line = n.screen, first+uint64(end)
				break
			}
		}
	}
}

// notched puts the rules between lines of which the first has a number.
func (p *peek) notched(lines []string, first uint64) []paneLine {
	out := make([]paneLine, 0, len(lines))
	next := func(from, to uint64) {
		for i := range p.notches {
			if m := &p.notches[i]; m.screen == p.news.screen && m.line >= from && m.line < to {
				out = append(out, paneLine{rule: m.rule})
			}
		}
	}
	for i, s := range lines {
		at := first + uint64(i)
		next(at, at+1)
		out = append(out, paneLine{text: s})
	}
	end := first + uint64(len(lines))
	next(end, ^uint64(0))
	return out
}
