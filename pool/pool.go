// Package pool is the arithmetic of pools: how large, which members, who leaves first. It is pure; the check runs
// elsewhere.
package pool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Spec is what a configuration says about a pool's size. 0 <= Min <= Max.
type Spec struct {
	Name     string // qualified: "rig/name" or "name"
	Min, Max int    // Max 0 = the pool is off
}

// Size is how many members a reported number means: the number within the bounds.
func (s Spec) Size(reported int) int { return min(max(reported, s.Min), s.Max) }

// Member is the qualified name of the i-th member, 1 <= i <= Max: the pool's own where there can be only one.
func (s Spec) Member(i int) string {
	if s.Max == 1 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(i)
}

// Index is which member a qualified name means, 0 if none.
func (s Spec) Index(name string) int {
	if s.Max == 1 {
		if name == s.Name {
			return 1
		}
		return 0
	}
	digits, ok := strings.CutPrefix(name, s.Name+"-")
	if !ok || strings.HasPrefix(digits, "0") || strings.HasPrefix(digits, "+") {
		return 0
	}
	i, err := strconv.Atoi(digits)
	if err != nil || i < 1 || i > s.Max {
		return 0
	}
	return i
}

// Parse reads what a check printed: one integer and nothing else. An error is never to be taken for 0.
func Parse(stdout []byte) (int, error) {
	text := strings.TrimSpace(string(stdout))
	if text == "" {
		return 0, errors.New("it printed nothing; a check prints one whole number")
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("it printed %s; a check prints one whole number",
			strconv.Quote(cut(text, 60)))
	}
	return n, nil
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
