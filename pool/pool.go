// Package pool decides how many members a pool has, and which ones. It has no side effects.
package pool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Spec is the configured size of a pool: 0 <= Min <= Max.
type Spec struct {
	Name     string // qualified: "rig/name" or "name"
	Min, Max int    // if Max is 0, the pool is off
}

// Size returns the number that a check has reported, limited to Min and Max.
func (s Spec) Size(reported int) int { return min(max(reported, s.Min), s.Max) }

// Member returns the qualified name of member i, with 1 <= i <= Max.
func (s Spec) Member(i int) string {
	if s.Max == 1 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(i)
}

// Index returns the number of the member with this qualified name, or 0.
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

// Parse parses the output of a check, which must be one integer. Callers must not treat an error as a size of 0.
func Parse(stdout []byte) (int, error) {
	text := strings.TrimSpace(string(stdout))
	if text == "" {
		return 0, errors.New("the check printed nothing; a check must print one whole number")
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("the check printed %s; a check must print one whole number",
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
