package panel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// WorkPage is the number of unclosed beads per request. Moving to the end requests more, up to maxWork.
const (
	WorkPage     = 500
	maxWork      = 4 * WorkPage
	closedListed = 200 // maximum number of listed beads that were closed today
)

// Work is the panel that lists the city's work.
type Work struct {
	Table[*WorkRow]
	pager
	unclosed, closed []beads.Bead
	ready            map[string]bool

	built  []*WorkRow // nil = not built yet
	rigs   []city.Rig
	agents *Agents
}

func newWork(all *Agents) *Work {
	k := &Work{pager: newPager(WorkPage, maxWork), agents: all}
	k.Table = NewTable(Definition[*WorkRow]{
		About: About{ID: IDWork, Title: "Work", Hotkey: "8", Key2: "b", Noun: "bead",
			Zone: keymap.InWork, Kind: KindBead,
			Opens: "work.details", Details: "work.details", Nouns: []string{"work"},
			Explains: true, InSlot: true, Follows: true, Described: true},
		Rows:    k.rows,
		Orders:  workSorts,
		Matches: (*WorkRow).matches,
		Needs:   func(r *WorkRow, _ time.Time) bool { return r.Attention() },
		Columns: k.columns,
		Count:   k.count,
		Issues:  k.issues,
		Help:    k.help,
		Search:  k.search,
		Agent: func(r *WorkRow) string {
			if all.Has(r.Bead.Assignee) {
				return r.Bead.Assignee
			}
			return ""
		},
		Rig:     func(r *WorkRow) string { return r.Rig },
		Called:  func(r *WorkRow) string { return r.id },
		Copies:  func(r *WorkRow) []Copied { return BeadCopies(&r.Bead) },
		Summary: k.summary,
	})
	return k
}

// RequestBeads requests the newest unclosed beads and those closed today.
func (k *Work) RequestBeads(e *Env, visible bool, seek func(beads.Query) int) {
	if e.Snap == nil || !visible {
		return
	}
	at, _, n, _ := k.Cursor()
	k.renew([2]int{e.Snap.Work.Open, e.Snap.Work.InProgress},
		k.agents.findName(k.Filter.FieldPrefix("assignee")), n > 0 && at == n-1)
	limit := k.next(e.Now)
	if limit == 0 {
		return
	}
	notWork := slices.DeleteFunc(city.NotWork(), func(kind string) bool {
		return kind == city.GateType
	})
	unclosed := beads.Query{Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress},
		NotType: notWork, Assignee: k.agent, Limit: limit}
	y, m, d := e.Now.Date()
	queries := []beads.Query{unclosed, {Status: []beads.Status{beads.StatusClosed},
		NotType: city.NotWork(), Assignee: k.agent, Limit: closedListed,
		ClosedSince: time.Date(y, m, d, 0, 0, 0, 0, e.Now.Location())}}
	if k.more || k.agent != "" { // the list might lack beads that block others
		queries = append(queries, beads.Query{Ready: true, NotType: notWork,
			Assignee: k.agent, Limit: limit})
	}
	k.Begin(e.Now, seek, queries...)
}

// Take handles the result of a query.
func (k *Work) Take(id int, found []beads.Bead, problem string) bool {
	all, ours := k.Fetch.Take(id, found, problem)
	if all == nil {
		return ours
	}
	var ready map[string]bool
	if len(all) > 2 {
		ready = map[string]bool{}
		for i := range all[2] {
			ready[all[2][i].ID] = true
		}
	}
	if more := len(all[0]) >= k.limit; more != k.more {
		k.more = more
		if more { // the ready beads are not known yet
			k.Outdated()
		}
	}
	k.unclosed, k.closed, k.ready, k.built = all[0], all[1], ready, nil
	return true
}

func (k *Work) rows(e *Env) []*WorkRow {
	same := slices.EqualFunc(k.rigs, e.Snap.Rigs, func(a, b city.Rig) bool {
		return a.Name == b.Name && a.Prefix == b.Prefix
	})
	if k.built == nil || !same {
		k.rigs, k.built = e.Snap.Rigs, widget.Pointers(workRows(e.Snap, k.unclosed, k.closed,
			k.ready))
	}
	return slices.Clone(k.built)
}

func (k *Work) count(e *Env) string {
	if e.Snap == nil {
		return ""
	}
	return strconv.Itoa(e.Snap.Work.Open + e.Snap.Work.InProgress)
}

func (k *Work) search(e *Env) string {
	text := SearchText(e, &k.Filter, false)
	if text != "" && k.more {
		text += fmt.Sprintf(" in the newest %d,", k.limit)
	}
	return text
}

func (k *Work) issues(*Env) (text string, alert bool) {
	switch {
	case k.Problem != "":
		return "cannot be read", true
	case k.more:
		return fmt.Sprintf("newest %d", k.limit), false
	}
	return "", false
}

func workSign(l *widget.Styles, s workState) (string, themes.Token) {
	switch s {
	case workBusy:
		return l.Glyphs.Starting, themes.Busy
	case WorkBlocked:
		return l.Glyphs.Waiting, themes.Warn
	case WorkClosed:
		return l.Glyphs.Done, themes.Off
	}
	return l.Glyphs.Suspended, themes.Text
}

func (k *Work) columns(e *Env, rows []*WorkRow, w int) []Column[*WorkRow] {
	state, id, prio, age, gap := 13, 4, 4, 4, 2
	rig, owner := 0, 0
	for _, r := range rows {
		id, owner = max(id, widget.Width(r.id)), max(owner, widget.Width(r.owner))
		rig = max(rig, widget.Width(r.Rig))
		prio = max(prio, len(r.Bead.Priority.String()))
	}
	id, owner = min(id, max(6, w/8)), min(owner, 20, w/4)
	if rig = min(rig, 12); w < 90 {
		rig = 0
	}
	if w < 70 { // the title is more important
		state, prio = widget.Width("state (↓)"), 0
		for _, r := range rows {
			state = max(state, 2+widget.Width(string(r.State)))
		}
	}
	if w < 60 {
		gap, state = 1, 1
	}
	rest := w - 4 - state
	for _, n := range []int{id, prio, rig, owner, age} {
		if n > 0 {
			rest -= n + gap
		}
	}
	title := rest - gap
	return Spaced(gap,
		Column[*WorkRow]{Head: widget.Cut("state", state, ""), W: state,
			Cell: func(l *widget.Line, r *WorkRow, _ widget.RowState) {
				sign, token := workSign(e.Look, r.State)
				l.Add(token, widget.Fit(sign+" "+string(r.State), state, ""))
			}},
		textColumn("id", id, themes.Dim, func(r *WorkRow) string { return r.id }).keepingEnds(),
		textColumn("prio", prio, themes.Dim, func(r *WorkRow) string {
			return r.Bead.Priority.String()
		}),
		Column[*WorkRow]{Head: "title", W: title,
			Cell: func(l *widget.Line, r *WorkRow, s widget.RowState) {
				r.titleCell(e, l, s, title)
			}},
		textColumn("rig", rig, themes.Dim,
			func(r *WorkRow) string { return r.Rig }).keepingEnds(),
		textColumn("assignee", owner, themes.Text,
			func(r *WorkRow) string { return r.owner }).keepingEnds(),
		ageColumn(e, age, (*WorkRow).since))
}

func (r *WorkRow) titleCell(e *Env, l *widget.Line, s widget.RowState, w int) {
	token := s.NameToken()
	if r.State == WorkClosed {
		token = themes.Dim
	}
	gate := ""
	if r.Gate != "" {
		gate = city.AwaitingGate + " "
	}
	l.Add(themes.Warn, widget.Cut(gate, w, ""))
	l.Add(token, e.Look.Fit(r.Shown, max(0, w-widget.Width(gate))))
}

func (k *Work) help(e *Env, w int) []string {
	switch {
	case k.Problem != "":
		return k.unreadable(e, w, "Beads", "work.refresh")
	case k.loading():
		return e.Look.Notes(w, "loading "+e.Look.Glyphs.More)
	case e.ReadOnly:
		return e.Look.Notes(w, "No open beads. Agents create beads, and so do "+
			"automations that cook a formula.")
	}
	return e.Look.Notes(w, "No open beads. "+e.KeyOf("work.create")+" adds one. Agents create "+
		"beads too, and so do automations that cook a formula.")
}

func (k *Work) summary(e *Env, r *WorkRow, w int) []string {
	return description(e, w, r.id, r.Rig, r.Details(e))
}

// Details returns everything that is known about a bead.
func (r *WorkRow) Details(e *Env) []string {
	b, p := &r.Bead, widget.Page{Styles: e.Look}
	sign, token := workSign(e.Look, r.State)
	p.Show("title", r.Shown)
	p.Show("state", p.Paint(token, sign+" "+string(r.State)))
	p.Show("assignee", r.owner)
	p.Show("priority", b.Priority.String())
	p.ShowPlain("type", b.Type)
	p.Show("created", widget.Clock(b.CreatedAt, e.Now))
	p.Show("changed", widget.Clock(b.UpdatedAt, e.Now))
	if b.ClosedAt != nil {
		p.Show("closed", widget.Clock(*b.ClosedAt, e.Now))
	}
	p.ShowKnown("awaits", r.Gate)
	p.ShowKnown("rig", r.Rig)
	p.ShowKnownPlain("part of", b.ParentID)
	p.ShowKnownPlain("formula", b.Ref)
	p.ShowKnownPlain("needs", strings.Join(b.Needs, ", "))
	p.ShowKnownPlain("labels", strings.Join(b.Labels, ", "))
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		p.Show(widget.Plain(key), widget.Plain(b.Metadata[key]))
	}
	if b.Description != "" {
		p.Add("")
		for text := range strings.SplitSeq(b.Description, "\n") {
			p.Add(widget.Plain(text))
		}
	}
	return p.Lines
}
