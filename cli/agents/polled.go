package agents

import (
	"slices"
	"strings"

	"gcity/city"
	"gcity/cli/env"
)

// polledScreen is a screen that a provider read. Such a provider sends changed screens instead of output.
type polledScreen struct {
	lines   []string
	printed bool // the last line was printed, too
}

func (f *followed) linesOf(frame city.Frame) []string {
	lines := strings.Split(strings.TrimRight(string(frame.Data), "\r\n"), "\n")
	for i := range lines {
		lines[i] = f.plain(lines[i])
	}
	return lines
}

// finished returns the finished lines of a frame, and the line that the next frame continues.
func (f *followed) finished(frame city.Frame) (lines []string, pending string) {
	lines = strings.Split(string(frame.Data), "\n")
	end := len(lines) - 1
	pending, lines = lines[end], lines[:end]
	for i := range lines {
		lines[i] = f.plain(lines[i])
	}
	return lines, pending
}

const skippedText = "… some output was skipped"

// printNew prints the new lines of a later screen, which then becomes s.
func (s *polledScreen) printNew(e *env.Env, f *followed, now []string) {
	added, skipped := s.newLines(now)
	if skipped {
		e.Sayf(skippedText)
	}
	for _, line := range added {
		f.writeLines(e, line+"\n")
	}
	*s = polledScreen{now, true}
	f.known = nil
	f.learn(now...)
}

// newLines returns the lines of a later screen that have not been printed yet. If the screen has scrolled, these are
// the lines after the last known line, or from that line on if it has been continued. Otherwise, they are the lines
// that s does not contain. skipped reports that the screens have no line in common.
func (s *polledScreen) newLines(now []string) (added []string, skipped bool) {
	end := len(s.lines) - 1
	for n := min(end, len(now)-1); n >= 0; n-- {
		last := s.lines[end]
		if !slices.Equal(s.lines[end-n:end], now[:n]) || !strings.HasPrefix(now[n], last) ||
			last == "" && n < end {
			continue
		}
		if s.printed && now[n] == last {
			n++
		}
		return now[n:], false
	}
	common := false
	for _, line := range now {
		switch {
		case line == "":
		case slices.Contains(s.lines, line):
			common = true
		default:
			added = append(added, line)
		}
	}
	return added, !common && len(added) > 0
}

const knownLines = 20

func (f *followed) learn(lines ...string) {
	f.known = append(f.known, lines...)
	f.known = f.known[max(0, len(f.known)-knownLines):]
}

// afterKnown returns the index after the known lines. Retained output may begin with only the last of them.
func (f *followed) afterKnown(lines []string) (from int, found bool) {
	// if fewer lines are known, the session had not printed more, so the retained output begins with them
	if n := len(f.known); n < knownLines && n <= len(lines) && slices.Equal(lines[:n], f.known) {
		return n, true
	}
	for i := len(lines); i > 0; i-- {
		n := min(i, len(f.known))
		if slices.Equal(lines[i-n:i], f.known[len(f.known)-n:]) {
			return i, true
		}
	}
	return 0, false
}
