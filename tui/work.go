package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/themes"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// workRow is a line of the list of work: the title of a group, or a bead in it.
type workRow struct {
	head  string // title of a group; "" = the row is a bead
	bead  beads.Bead
	gate  string // gate that the bead waits for; "" = none
	depth int    // nesting depth; 0 = not part of a listed bead
}

// work is the dialog that lists open beads by pool and assignee.
type work struct {
	rows    []workRow
	beads   int
	chosen  string // ID under the cursor
	at      int    // index into rows
	offset  int
	problem string // why the work could not be read; "" = no error
	known   bool   // an answer has arrived
	asked   int    // ID of the request in progress; 0 = none
	counts  [2]int // the city's counts at the time of the request: open, in progress
	stale   bool   // something has changed since the request

	dialog.List[task]
}

// workLimit bounds the list. The city returns the newest first; below this limit no urgent work is left out.
const workLimit = 5000

func (k *work) title() string {
	if !k.known {
		return "Work"
	}
	text := fmt.Sprintf("Work %d", k.beads)
	if all := k.counts[0] + k.counts[1]; k.beads >= workLimit && all > k.beads {
		return fmt.Sprintf("%s of %d shown, newest only", text, all)
	}
	return text
}

// askWork requests all work that is not done, and the gates that block it. Runs of automations are not work.
func askWork(m *model) {
	k := m.dialogs.work()
	k.stale, k.counts = false, workCounts(m)
	none := slices.DeleteFunc(city.NotWork(), func(kind string) bool {
		return kind == city.GateType
	})
	k.asked = seekBeads(m, beads.Query{Status: []beads.Status{beads.StatusOpen,
		beads.StatusInProgress},
		NotType: none, Limit: workLimit})
}

func workCounts(m *model) [2]int {
	if m.snap == nil {
		return [2]int{}
	}
	return [2]int{m.snap.Work.Open, m.snap.Work.InProgress}
}

// workChanged requests the work again if the open list is outdated.
func workChanged(m *model) {
	if k := m.dialogs.work(); k != nil && k.asked == 0 && (k.stale || k.counts != workCounts(m)) {
		askWork(m)
	}
}

// take handles an answer. The cursor stays on its bead.
func (k *work) take(f feed.FoundBeads) {
	k.asked, k.known, k.problem = 0, true, widget.Plain(f.Problem)
	if f.Problem != "" {
		return // keep the previous list
	}
	gates := city.GatesIn(f.Beads)
	all := slices.DeleteFunc(slices.Clone(f.Beads), func(b beads.Bead) bool {
		return b.Type == city.GateType
	})
	k.beads = len(all)
	k.rows = grouped(all)
	for i := range k.rows {
		if gate, ok := gates.Block(k.rows[i].bead); ok {
			k.rows[i].gate = "gate " + gate.ID + " " + gate.Title
		}
	}
	k.at = max(0, min(k.at, len(k.rows)-1))
	for i := range k.rows {
		if k.rows[i].head == "" && k.rows[i].bead.ID == k.chosen {
			k.at = i
		}
	}
	k.settle(1)
}

// grouped sorts beads into groups by pool, those without a pool last, and parts below their parent. In a group
// assigned beads come first.
func grouped(all []beads.Bead) []workRow {
	byID := make(map[string]*beads.Bead, len(all))
	for i := range all {
		byID[all[i].ID] = &all[i]
	}
	pools, parts := map[string][]beads.Bead{}, map[string][]beads.Bead{}
	for _, b := range all {
		if isPart(&b, byID) {
			parts[b.ParentID] = append(parts[b.ParentID], b)
		} else {
			pools[poolOf(b)] = append(pools[poolOf(b)], b)
		}
	}
	var rows []workRow
	for _, name := range slices.SortedFunc(maps.Keys(pools), comparePools) {
		group := pools[name]
		rows = append(rows, workRow{})
		head := len(rows) - 1
		rows = inOrder(rows, group, parts, 0)
		rows[head].head = groupHead(name, group, len(rows)-head-1-len(group))
	}
	return rows
}

// isPart reports whether a bead is listed below another one: its parent is listed, is for the same pool, and has a
// top-level ancestor.
func isPart(b *beads.Bead, byID map[string]*beads.Bead) bool {
	const deepest = 8
	part := false
	for range deepest {
		whole := byID[b.ParentID]
		if pool := poolOf(*b); whole == nil || pool != "" && pool != poolOf(*whole) {
			return part
		}
		b, part = whole, true
	}
	return false
}

// inOrder appends beads, each with its parts.
func inOrder(rows []workRow, group []beads.Bead, parts map[string][]beads.Bead,
	depth int) []workRow {
	slices.SortStableFunc(group, func(a, b beads.Bead) int {
		if (a.Assignee == "") != (b.Assignee == "") {
			return cmp.Compare(b.Assignee, a.Assignee)
		}
		return cmp.Or(city.CompareNames(a.Assignee, b.Assignee), beads.ByUrgency(a, b))
	})
	for _, b := range group {
		rows = append(rows, workRow{bead: b, depth: depth})
		rows = inOrder(rows, parts[b.ID], parts, depth+1)
	}
	return rows
}

// comparePools orders pools by name, no pool last.
func comparePools(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return city.CompareNames(a, b)
}

// poolOf returns the pool of a bead, or "".
func poolOf(b beads.Bead) string {
	for _, l := range b.Labels {
		if name, ok := strings.CutPrefix(l, city.PoolLabel); ok {
			return name
		}
	}
	return ""
}

func groupHead(pool string, group []beads.Bead, parts int) string {
	begun := 0
	for _, b := range group {
		if b.Status == beads.StatusInProgress {
			begun++
		}
	}
	name := "no pool"
	if pool != "" {
		name = "pool " + widget.Plain(pool)
	}
	text := fmt.Sprintf("%s  %d open", name, len(group)-begun)
	if begun > 0 {
		text += fmt.Sprintf(", %d in progress", begun)
	}
	if parts > 0 {
		text += ", with " + widget.Count(parts, "part")
	}
	return text
}

// partsBelow returns how many parts the bead under the cursor has.
func (k *work) partsBelow() int {
	n := 0
	for i := k.at + 1; i < len(k.rows) && k.rows[i].head == "" &&
		k.rows[i].depth > k.rows[k.at].depth; i++ {
		n++
	}
	return n
}

// move moves the cursor by n rows, never to the title of a group.
func (k *work) move(n int) {
	k.at = max(0, min(k.at+n, len(k.rows)-1))
	step := 1
	if n < 0 {
		step = -1
	}
	k.settle(step)
}

// settle moves the cursor off the title of a group, in a direction if possible.
func (k *work) settle(step int) {
	for _, by := range []int{step, -step} {
		for i := k.at; i >= 0 && i < len(k.rows); i += by {
			if k.rows[i].head == "" {
				k.at, k.chosen = i, k.rows[i].bead.ID
				return
			}
		}
	}
	k.chosen = ""
}

// under returns the bead under the cursor, or nil.
func (k *work) under() *beads.Bead {
	if k.at < len(k.rows) && k.rows[k.at].head == "" {
		return &k.rows[k.at].bead
	}
	return nil
}

func workSheet(m *model, w int) []string {
	k := m.dialogs.work()
	none := "No open work. Automations that cook a formula, and agents, create it."
	if m.mode != ReadOnly {
		none = "No open work. Press " + m.keys.KeyOf("work.create") + " to add some; automations " +
			"that cook a formula, and agents, create it too."
	}
	return listSheet(m, w, listing{problem: k.problem, known: k.known, none: none,
		rows: len(k.rows),
		at:   k.at, offset: &k.offset, titled: true,
		row: func(i, w int) string {
			return workLine(m, &k.rows[i], i == k.at, w)
		}, keys: workKeys(m)})
}

// workKeys returns the keys that currently work.
func workKeys(m *model) []string {
	switch {
	case m.mode == ReadOnly && m.dialogs.work().under() == nil:
		return m.keys.Hints("work.refresh", "refresh", "work.close", "closes")
	case m.mode == ReadOnly:
		return m.keys.Hints("work.details", "details", "work.refresh", "refresh", "work.close",
			"closes")
	case m.dialogs.work().under() == nil:
		return m.keys.Hints("work.create", "add", "work.close", "closes")
	}
	return m.keys.Hints("work.create", "add", "work.finish", "close it", "work.sling", "hand over",
		"work.verbs", "verbs", "work.yank", "copy", "work.details", "details", "work.close",
		"closes")
}

func workLine(m *model, r *workRow, here bool, w int) string {
	more := m.look.Glyphs.More
	l := widget.Line{Styles: &m.look, Selected: here}
	if r.head != "" {
		l.Add(themes.Title, widget.Cut(r.head, w, more))
		return l.Fill(w)
	}
	b := &r.bead
	mark := "  "
	if here {
		mark = m.look.Glyphs.Cursor + " "
	}
	l.Add(themes.Accent, mark)
	sign, token := m.look.Glyphs.Suspended, themes.Text
	if b.Status == beads.StatusInProgress {
		sign, token = m.look.Glyphs.Starting, themes.Busy
	}
	l.Space(2 * min(r.depth, w/16))
	l.Add(token, sign+" ")
	l.Add(themes.Dim, widget.FitName(widget.Plain(b.ID), min(12, max(6, w/8)), more))
	l.Space(1)
	if w >= 50 {
		l.Add(themes.Dim, b.Priority.String()+" ")
	}
	if r.gate != "" && w >= 60 {
		l.Add(themes.Warn, city.AwaitingGate+" ")
	}
	who, old := widget.Plain(b.Assignee), widget.Age(m.now.Sub(b.CreatedAt))
	whoWidth := min(20, w/4)
	l.Add(themes.Text, widget.Fit(widget.Plain(b.Title), w-l.Width-whoWidth-7, more))
	l.Space(1)
	l.Add(themes.Text, widget.FitName(who, whoWidth, more))
	l.Space(1)
	l.Add(themes.Dim, widget.FitRight(old, 4, ""))
	return widget.Crop(l.Fill(w), w)
}

func beadDetails(m *model, b *beads.Bead, gate string) []string {
	lines := []string{
		m.look.Field("title", widget.Plain(b.Title)),
		m.look.Field("status", widget.Plain(strings.ReplaceAll(string(b.Status), "_", " "))),
		m.look.Field("type", widget.Plain(b.Type)),
		m.look.Field("priority", b.Priority.String()),
		m.look.Field("assignee", widget.Plain(b.Assignee)),
		m.look.Field("created", widget.Clock(b.CreatedAt, m.now)),
		m.look.Field("changed", widget.Clock(b.UpdatedAt, m.now)),
	}
	for _, f := range []struct{ name, text string }{
		{"awaits", gate}, {"part of", b.ParentID}, {"made from", b.Ref},
		{"needs", strings.Join(b.Needs, ", ")}, {"labels", strings.Join(b.Labels, ", ")},
	} {
		if f.text != "" {
			lines = append(lines, m.look.Field(f.name, widget.Plain(f.text)))
		}
	}
	keys := make([]string, 0, len(b.Metadata))
	for key := range b.Metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		lines = append(lines, m.look.Field(widget.Plain(key), widget.Plain(b.Metadata[key])))
	}
	if b.Description != "" {
		lines = append(lines, "")
		for _, text := range strings.Split(b.Description, "\n") {
			lines = append(lines, widget.Plain(text))
		}
	}
	return lines
}

// subject returns the bead under the cursor.
func (k *work) subject() panel.Ref {
	ref := panel.Ref{Kind: panel.KindBead}
	if b := k.under(); b != nil {
		ref.Name = b.ID
	}
	return ref
}

// copies returns what may be copied from the row under the cursor.
func (k *work) copies() []panel.Copied {
	if r := k.under(); r != nil {
		return beadCopies(r)
	}
	return nil
}
