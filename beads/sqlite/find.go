package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/beads"
)

// maxClosedAge limits the use of the index by_closed, which does not have the order of lists. A query for beads closed
// during a longer time finds a page faster if it reads the newest beads first.
const maxClosedAge = 7 * 24 * time.Hour

type selection struct {
	from  string
	where []string
	args  []any
	order string
}

// find returns the selection for a query. It chooses the index itself, because SQLite's planner has no statistics.
// Usually, the fewest beads share a parent or a formula; more share a label, and even more an assignee.
func (f *file) find(q beads.Query) selection {
	x := selection{order: `b.created DESC, b.seq DESC`}
	labels := q.Labels
	unclosed := q.Ready || len(q.Status) > 0 && !slices.Contains(q.Status, beads.StatusClosed)
	tableOfLabels, byAssignee := `labels`, `by_assignee`
	if unclosed && f.openIndexes {
		tableOfLabels, byAssignee = `open_labels`, `by_open_assignee`
	}
	switch {
	case q.Parent != "":
		x.from = `beads b INDEXED BY by_parent`
	case q.Ref != "":
		x.from = `beads b INDEXED BY by_ref`
	case len(labels) > 0:
		x.from = tableOfLabels + ` l CROSS JOIN beads b ON b.seq = l.seq`
		x.order = `l.created DESC, l.seq DESC`
		x.and(`l.label = ?`, labels[0])
		labels = labels[1:]
	case f.closedIndex && time.Since(q.ClosedSince) < maxClosedAge:
		x.from = `beads b INDEXED BY by_closed`
	case q.Assignee != "":
		x.from = `beads b INDEXED BY ` + byAssignee
	case unclosed:
		x.from = `beads b INDEXED BY by_open`
	case q.Type != "":
		x.from = `beads b INDEXED BY by_type`
	default:
		x.from = `beads b INDEXED BY by_age`
	}
	if unclosed {
		x.and(`b.status <> 'closed'`)
	}
	x.filter(q, labels)
	return x
}

// filter adds the query's conditions, except for labels that the caller has handled.
func (x *selection) filter(q beads.Query, labels []string) {
	x.is(`b.parent`, q.Parent)
	x.is(`b.ref`, q.Ref)
	x.is(`b.assignee`, q.Assignee)
	x.is(`b.type`, q.Type)
	if q.Assigned {
		x.and(`b.assignee IS NOT NULL`)
	}
	if !q.ClosedSince.IsZero() {
		x.and(`b.closed >= ?`, q.ClosedSince.UnixNano())
	}
	const labeled = `EXISTS (SELECT 1 FROM labels m
			WHERE m.label = ? AND m.created = b.created AND m.seq = b.seq)`
	if !q.CreatedUntil.IsZero() {
		created, _, _ := strings.Cut(x.order, " ")
		x.and(created+` <= ?`, q.CreatedUntil.UnixNano())
	}
	for _, l := range labels {
		x.and(labeled, l)
	}
	if q.NotLabel != "" {
		x.and(`NOT `+labeled, q.NotLabel)
	}
	x.in(`b.type NOT IN`, q.NotType)
	if q.Ready {
		x.and(`b.status = 'open'`)
		x.and(`NOT EXISTS (SELECT 1 FROM needs n JOIN beads d ON d.id = n.need
			WHERE n.seq = b.seq AND d.status <> 'closed')`)
	}
	status := make([]string, len(q.Status))
	for i, s := range q.Status {
		status[i] = string(s)
	}
	x.in(`b.status IN`, status)
	x.and(readable)
}

func (x *selection) and(condition string, args ...any) {
	x.where = append(x.where, condition)
	x.args = append(x.args, args...)
}

func (x *selection) is(column, value string) {
	if value != "" {
		x.and(column+` = ?`, value)
	}
}

func (x *selection) in(what string, values []string) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	x.and(what+` (?`+strings.Repeat(`, ?`, len(values)-1)+`)`, args...)
}

func (x *selection) after(created, seq int64) {
	created1, seq1, _ := strings.Cut(strings.ReplaceAll(x.order, " DESC", ""), ", ")
	x.and(fmt.Sprintf(`(%s, %s) < (?, ?)`, created1, seq1), created, seq)
}

func (x *selection) list(most int) (string, []any) {
	return `SELECT ` + columns + ` FROM ` + x.from + ` WHERE ` + strings.Join(x.where, ` AND `) +
			` ORDER BY ` + x.order + ` LIMIT ?`,
		append(x.args, most)
}

func (x *selection) tally() (string, []any) {
	return `SELECT coalesce(b.assignee, ''), b.labels, count(*) FROM ` + x.from + ` WHERE ` +
		strings.Join(x.where, ` AND `) + ` GROUP BY 1, 2`, x.args
}

func (x *selection) count() (string, []any) {
	return `SELECT count(*) FROM ` + x.from + ` WHERE ` + strings.Join(x.where, ` AND `), x.args
}
