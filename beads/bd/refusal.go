package bd

import (
	"errors"
	"strings"

	"gcity/beads"
	"gcity/beads/foreign"
)

// refusals contains texts of bd's messages about invalid requests, and the field of the bead that each text is about.
// All other messages are failures of bd.
var refusals = []struct{ text, field string }{
	{"invalid issue type", fieldType},
	{"cannot reassign", fieldAssignee},
	{"invalid metadata", "metadata"},
	{"metadata edit failed", "metadata"},
	{"metadata validation failed", "metadata"},
	{"title must be", "title"},
	{"title cannot", "title"},
	{"invalid status", "status"},
	{"close reason is", "close reason"},
	{"cannot modify", "fields"}, // of a template
	{"can only block other", "needs"},
	{"already exists with type", "links"},
	{"would create a cycle", "links"},
}

const (
	fieldType     = "type"
	fieldAssignee = "assignee"
)

// refusal returns an *beads.Invalid if why, the message from bd, says that the request is invalid, and nil otherwise.
func refusal(args []string, why string) error {
	low := strings.ToLower(why)
	for _, r := range refusals {
		if !strings.Contains(low, r.text) {
			continue
		}
		which := ""
		if about, _ := named(args); len(about) > 0 {
			which = "bead " + about[0]
		}
		return &beads.Invalid{Which: which, Field: r.field,
			Reason: "cannot be stored by bd: " + foreign.FirstLine(why)}
	}
	return nil
}

// refusedField returns the name of the field that bd refused to store, or "".
func refusedField(err error) string {
	if invalid, ok := errors.AsType[*beads.Invalid](err); ok {
		return invalid.Field
	}
	return ""
}
