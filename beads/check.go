package beads

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a bead.
const (
	MaxTitle    = 500       // bytes
	MaxWord     = 200       // bytes of an assignee, a ref or a label
	MaxText     = 256 << 10 // bytes of a description, and of all metadata in total
	MaxValue    = 64 << 10  // bytes of one metadata value
	MaxLabels   = 100
	MaxNeeds    = 1000
	MaxMetadata = 256
)

// Invalid is the error for an invalid bead or request. Its text is for users.
type Invalid struct {
	// ID, or "bead 3 of 7"; "" = the only bead
	Which  string
	Field  string // JSON name of the field, or one of its items, such as `label "x"`
	Reason string // end of the sentence, such as "is empty"
}

func (e *Invalid) Error() string {
	which := "the bead"
	if e.Which != "" {
		which = e.Which
	}
	return which + ": its " + e.Field + " " + e.Reason
}

func invalid(field, reason string, args ...any) error {
	return &Invalid{Field: field, Reason: fmt.Sprintf(reason, args...)}
}

// Prepare normalizes and validates a new bead, sets the defaults, and sets the creation time to now. It does not set
// the ID. The store must check that the parent and the needs exist.
func Prepare(b Bead, now time.Time) (Bead, error) {
	b.CreatedAt, b.UpdatedAt, b.ClosedAt, b.Rev = now, now, nil, 1
	b = normalize(b)
	return b, Check(b)
}

func normalize(b Bead) Bead {
	b = b.Clone()
	if b.Status == "" {
		b.Status = StatusOpen
	}
	if b.Type == "" {
		b.Type = DefaultType
	}
	b.Title = strings.TrimSpace(b.Title)
	b.Description = lineEnds(b.Description)
	b.Labels = words(b.Labels)
	b.Needs = words(b.Needs)
	for k, v := range b.Metadata {
		if b.Metadata[k] = lineEnds(v); v == "" {
			delete(b.Metadata, k)
		}
	}
	if len(b.Metadata) == 0 {
		b.Metadata = nil
	}
	b.CreatedAt, b.UpdatedAt = normalTime(b.CreatedAt), normalTime(b.UpdatedAt)
	switch {
	case b.Status != StatusClosed:
		b.ClosedAt = nil
	case b.ClosedAt == nil:
		b.ClosedAt = new(b.UpdatedAt)
	default:
		*b.ClosedAt = normalTime(*b.ClosedAt)
	}
	return b
}

func lineEnds(s string) string {
	if !strings.Contains(s, "\r\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines[:len(lines)-1] {
		lines[i] = strings.TrimRight(l, "\r")
	}
	return strings.Join(lines, "\n")
}

// normalTime converts t to UTC and removes the monotonic clock reading, so that equal times are equal values.
func normalTime(t time.Time) time.Time { return t.Round(0).UTC() }

func words(list []string) []string {
	var out []string
	for _, w := range list {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Check validates a normalized bead and returns an *Invalid or nil. An empty ID is valid.
func Check(b Bead) error {
	if b.ID != "" {
		if err := CheckID(b.ID); err != nil {
			return err
		}
	}
	for _, check := range []func(Bead) error{checkWords, checkLinks, checkLabels, checkMetadata,
		checkTimes} {
		if err := check(b); err != nil {
			return err
		}
	}
	return checkText("description", b.Description, MaxText)
}

func checkWords(b Bead) error {
	if b.Title == "" {
		return invalid("title", "is empty: describe in one line what is to be done")
	}
	if !b.Status.Valid() {
		return invalid("status", "is %s: use open, in_progress or closed",
			quote(string(b.Status)))
	}
	if !b.Priority.Valid() {
		return invalid("priority", "is %d: use 0 (most urgent) to %d",
			b.Priority.Level(), Someday.Level())
	}
	if !token(b.Type) {
		return invalid("type", "is %s: use lower-case letters, digits, - and _, starting with "+
			"a letter",
			quote(b.Type))
	}
	if err := checkLine("title", b.Title, MaxTitle); err != nil {
		return err
	}
	if err := checkLine("assignee", b.Assignee, MaxWord); err != nil {
		return err
	}
	return checkLine("ref", b.Ref, MaxWord)
}

func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if small := c >= 'a' && c <= 'z'; !small &&
			(i == 0 || !(c >= '0' && c <= '9' || c == '-' || c == '_')) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func checkLinks(b Bead) error {
	if len(b.Needs) > MaxNeeds {
		return invalid("needs", "has %d entries, but at most %d are allowed; list one bead "+
			"that groups several of them", len(b.Needs), MaxNeeds)
	}
	links := b.Needs
	if b.ParentID != "" {
		links = append([]string{b.ParentID}, links...)
	}
	for i, id := range links {
		field := "needs"
		if i == 0 && b.ParentID != "" {
			field = "parent"
		}
		if err := checkID(field, id); err != nil {
			return err
		}
		if id == b.ID && id != "" {
			return invalid(field, "%s the bead itself",
				map[string]string{"needs": "name", "parent": "is"}[field])
		}
	}
	return nil
}

func checkLabels(b Bead) error {
	if len(b.Labels) > MaxLabels {
		return invalid("labels", "has %d entries, but at most %d are allowed", len(b.Labels),
			MaxLabels)
	}
	for _, l := range b.Labels {
		if strings.Contains(l, ",") {
			return invalid("label "+quote(l), "has a comma, which separates labels: use two labels")
		}
		if err := checkLine("label", l, MaxWord); err != nil {
			return about(err, l)
		}
	}
	return nil
}

func checkMetadata(b Bead) error {
	if len(b.Metadata) > MaxMetadata {
		return invalid("metadata", "has %d keys, but at most %d are allowed", len(b.Metadata),
			MaxMetadata)
	}
	size := 0
	for _, k := range slices.Sorted(maps.Keys(b.Metadata)) {
		v := b.Metadata[k]
		size += len(k) + len(v)
		if err := checkKey(k); err != nil {
			return err
		}
		if err := checkText("metadata", v, MaxValue); err != nil {
			return about(err, k)
		}
	}
	if size > MaxText {
		return invalid("metadata", "has %d bytes, but at most %d are allowed", size, MaxText)
	}
	return nil
}

func about(err error, what string) error {
	if i, ok := err.(*Invalid); ok {
		return &Invalid{Which: i.Which, Field: i.Field + " " + quote(what), Reason: i.Reason}
	}
	return err
}

func checkKey(k string) error {
	bad := strings.ContainsFunc(k, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == '=' || r == '"'
	})
	if bad || k == "" || len(k) > MaxWord {
		return invalid("metadata key "+quote(k),
			`is invalid: use 1 to %d printable ASCII characters other than space, = and "`, MaxWord)
	}
	return nil
}

func checkTimes(b Bead) error {
	if err := checkTime("created_at", b.CreatedAt); err != nil {
		return err
	}
	if err := checkTime("updated_at", b.UpdatedAt); err != nil || b.ClosedAt == nil {
		return err
	}
	return checkTime("closed_at", *b.ClosedAt)
}

func checkTime(field string, t time.Time) error {
	if t.Year() < 1970 || t.Year() > 2200 {
		return invalid(field, "is in the year %d; use a year from 1970 to 2200", t.Year())
	}
	return nil
}

// CheckID returns an error if a string is not a valid bead ID.
func CheckID(id string) error { return checkID("id", id) }

func checkID(field, id string) error {
	for i := range len(id) {
		c := id[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '.' && c != '_') {
			return invalid(field, "%s is not a valid id: use letters, digits, \".\", \"_\" and "+
				"\"-\", starting with a letter or digit", quote(id))
		}
	}
	if id == "" || len(id) > 128 {
		return invalid(field, "%s is not a valid id: use 1 to 128 characters", quote(id))
	}
	return nil
}

// CheckPrefix returns an error if a string is not a valid prefix for bead IDs.
func CheckPrefix(prefix string) error {
	if err := checkID("prefix", prefix); err != nil || len(prefix) > 32 {
		return fmt.Errorf("%s is not a valid prefix of bead IDs: use 1 to 32 letters, digits, "+
			"\".\", \"_\" and \"-\", starting with a letter or digit", quote(prefix))
	}
	return nil
}

func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.QuoteToGraphic(s)
}
