package feed

import (
	"bytes"
	"slices"
)

// merge applies the changes from base to mine and from base to theirs. If they affect the same or adjacent lines, the
// result contains both versions between markers, and conflict is the line of the first marker. Otherwise, conflict is
// 0. Each change is one range of lines, from the first to the last line that differs.
func merge(base, mine, theirs []byte) (merged []byte, conflict int) {
	b, m, t := lines(base), lines(mine), lines(theirs)
	mineFrom, mineTo := changed(b, m)
	theirsFrom, theirsTo := changed(b, t)
	switch {
	case mineTo < theirsFrom:
		return bytes.Join(slices.Concat(m[:len(m)-len(b)+theirsFrom], t[theirsFrom:]), nil), 0
	case theirsTo < mineFrom:
		return bytes.Join(slices.Concat(t[:len(t)-len(b)+mineFrom], m[mineFrom:]), nil), 0
	case bytes.Equal(mine, theirs):
		return theirs, 0
	}
	from, after := min(mineFrom, theirsFrom), len(b)-max(mineTo, theirsTo)
	return bytes.Join(slices.Concat(b[:from],
		[][]byte{[]byte("<<<<<<< your edit\n")}, ended(m[from:len(m)-after]),
		[][]byte{[]byte("=======\n")}, ended(t[from:len(t)-after]),
		[][]byte{[]byte(">>>>>>> on disk\n")}, b[len(b)-after:]), nil), from + 1
}

func lines(text []byte) [][]byte {
	all := bytes.SplitAfter(text, []byte("\n"))
	if n := len(all) - 1; len(all[n]) == 0 {
		all = all[:n]
	}
	return all
}

// changed returns the range of lines that an edit has replaced.
func changed(before, after [][]byte) (from, to int) {
	short := min(len(before), len(after))
	for from < short && bytes.Equal(before[from], after[from]) {
		from++
	}
	same := 0
	for same < short-from &&
		bytes.Equal(before[len(before)-1-same], after[len(after)-1-same]) {
		same++
	}
	return from, len(before) - same
}

// ended returns the lines with a line break after the last one.
func ended(all [][]byte) [][]byte {
	if n := len(all) - 1; n >= 0 && !bytes.HasSuffix(all[n], []byte("\n")) {
		all = append(slices.Clone(all[:n]), append(slices.Clone(all[n]), '\n'))
	}
	return all
}
