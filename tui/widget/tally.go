package widget

import (
	"fmt"
	"slices"

	"gcity/themes"
)

// Tally is a count in a header: "  4 running".
type Tally struct {
	Text  string
	Token themes.Token
	N     int
}

// TalliesWidth returns the total width of tallies.
func TalliesWidth(all []Tally) int {
	n := 0
	for _, t := range all {
		n += Width(t.Text)
	}
	return n
}

// FitTallies returns the tallies that fit into w columns, the urgent tallies first. If some do not fit, the total
// follows: "4 running of 12". If the urgent tallies do not fit, it sums them up or returns nil.
func FitTallies(urgent, rest []Tally, w int) []Tally {
	all := slices.Concat(urgent, rest)
	others, ill, total := 0, 0, 0
	for _, t := range urgent {
		ill += t.N
	}
	for _, t := range all {
		total += t.N
	}
	sum := fmt.Sprintf(" of %d", total)
	for i := len(all); i >= max(1, len(urgent)); i-- {
		switch {
		case others == 0 && TalliesWidth(all) <= w:
			return all
		case others > 0 && TalliesWidth(all[:i])+Width(sum) <= w:
			all[i-1].Text += sum
			return all[:i]
		}
		others += all[i-1].N
	}
	if ill == 0 {
		return nil
	}
	if TalliesWidth(urgent) > w {
		urgent = []Tally{{fmt.Sprintf("  %d in trouble", ill), themes.Bad, ill}}
	}
	if TalliesWidth(urgent) > w {
		return nil
	}
	return urgent
}
