package widget

import (
	"fmt"
	"slices"

	"gcity/themes"
)

// Counter is a number with its label in a header: "  4 running".
type Counter struct {
	Text  string
	Token themes.Token
	N     int
}

// CountersWidth returns the total width of counters.
func CountersWidth(all []Counter) int {
	n := 0
	for _, t := range all {
		n += Width(t.Text)
	}
	return n
}

// FitCounters returns the counters that fit into w columns, urgent ones first. If some do not fit, it adds the total:
// "4 running of 12".
func FitCounters(urgent, rest []Counter, w int) []Counter {
	all := slices.Concat(urgent, rest)
	others, urgentSum, total := 0, 0, 0
	for _, t := range urgent {
		urgentSum += t.N
	}
	for _, t := range all {
		total += t.N
	}
	sum := fmt.Sprintf(" of %d", total)
	for i := len(all); i >= max(1, len(urgent)); i-- {
		switch {
		case others == 0 && CountersWidth(all) <= w:
			return all
		case others > 0 && CountersWidth(all[:i])+Width(sum) <= w:
			all[i-1].Text += sum
			return all[:i]
		}
		others += all[i-1].N
	}
	if urgentSum == 0 {
		return nil
	}
	if CountersWidth(urgent) > w {
		urgent = Together(urgent)
	}
	if CountersWidth(urgent) > w {
		return nil
	}
	return urgent
}

// Together returns the sum of counters as a single counter, or nil if there are no counters.
func Together(all []Counter) []Counter {
	if len(all) == 0 {
		return nil
	}
	sum := 0
	for _, c := range all {
		sum += c.N
	}
	return []Counter{{fmt.Sprintf("  %d in trouble", sum), themes.Bad, sum}}
}

// NoneOf returns a sentence that says that none of n objects matches: "None of the 5 pools matches".
func NoneOf(n int, noun string) string {
	if n == 1 {
		return "The only " + noun + " does not match"
	}
	return "None of the " + Count(n, noun) + " matches"
}
