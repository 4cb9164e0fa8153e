package beads

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Priority is the urgency of work. The zero value is the default. In JSON and for users, a priority is a number from 0
// (most urgent) to 4, and the default is 2.
type Priority int

// All priorities, most urgent first.
const (
	Urgent Priority = iota - 2
	High
	Normal
	Low
	Someday
)

// Valid reports whether p is one of the five priorities.
func (p Priority) Valid() bool { return p >= Urgent && p <= Someday }

// Level returns the number that users see, from 0 to 4.
func (p Priority) Level() int { return int(p - Urgent) }

// PriorityOf returns the priority for a level.
func PriorityOf(level int) (Priority, error) {
	if level < 0 || level > Someday.Level() {
		return 0, fmt.Errorf("invalid priority %d: use 0 (most urgent) to %d",
			level, Someday.Level())
	}
	return Priority(level) + Urgent, nil
}

// ParsePriority parses "0" to "4", or "P0" to "P4".
func ParsePriority(s string) (Priority, error) {
	level, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(s), "P"))
	if err != nil {
		return 0, fmt.Errorf("invalid priority %q: use 0 (most urgent) to %d", s,
			Someday.Level())
	}
	return PriorityOf(level)
}

// String returns "P0" to "P4".
func (p Priority) String() string { return "P" + strconv.Itoa(p.Level()) }

// MarshalJSON writes the level.
func (p Priority) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(p.Level()), 10), nil
}

// UnmarshalJSON reads a level.
func (p *Priority) UnmarshalJSON(data []byte) error {
	var level int
	if err := json.Unmarshal(data, &level); err != nil {
		return fmt.Errorf("invalid priority: use a number from 0 (most urgent) to %d, not %.40s",
			Someday.Level(), data)
	}
	read, err := PriorityOf(level)
	if err == nil {
		*p = read
	}
	return err
}
