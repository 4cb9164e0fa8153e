package panel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Agents is the panel that lists the city's agents.
type Agents struct {
	Table[*AgentRow]
	measured bool
	Rates    widget.Sparklines
	Hours    widget.History
	retried  map[string]bool
	Chosen   []columnKind // nil = the default columns
}

func newAgents() *Agents {
	a := &Agents{}
	a.Table = NewTable(Definition[*AgentRow]{
		About: About{ID: IDAgents, Title: "Agents", Hotkey: "1", Noun: "agent",
			Zone: keymap.InLists, Kind: KindAgent,
			Opens: "agent.zoom", Nouns: []string{"agent", "rig"}, FitsWidth: true},
		Rows:    a.build,
		Orders:  agentSorts,
		Matches: (*AgentRow).Matches,
		Needs:   (*AgentRow).Attention,
		Columns: a.Columns,
		Empty: func(e *Env, w int) []string {
			return append([]string{widget.Spaces(w)}, a.whyEmpty(e, w)...)
		},
		Help:    agentHelp,
		Rig:     func(r *AgentRow) string { return r.Rig },
		Summary: a.SummaryOf,
	})
	return a
}

func newQuarantine(all *Agents) *Table[*AgentRow] {
	q := &Table[*AgentRow]{}
	*q = NewTable(Definition[*AgentRow]{
		About: About{ID: IDQuarantine, Title: "Quarantine", Hotkey: "3", Noun: "agent",
			Zone: keymap.InLists, Kind: KindAgent,
			Opens: "agent.zoom", Nouns: []string{"agent", "rig"}, Subset: true, NoHeads: true,
			Share: 5, MinHeight: 2},
		Orders:  all.Def.Orders,
		Belongs: func(r *AgentRow) bool { return r.State == city.Quarantined },
		Columns: quarantineColumns,
		Count: func(e *Env) string {
			if e.Snap == nil {
				return ""
			}
			return strconv.Itoa(len(q.List.Shown) - len(q.List.Unmatched))
		},
		Issues: func(*Env) (note string, alert bool) {
			strays := len(q.List.Unmatched)
			if strays > 0 { // released agents stay listed, so that the cursor does not move
				note = fmt.Sprintf("%d released", strays)
			}
			return note, len(q.List.Shown) > strays
		},
		Empty:   noneQuarantined,
		Rig:     all.Def.Rig,
		Summary: all.Def.Summary,
	})
	q.Records = all.Records
	return q
}

func (a *Agents) build(e *Env) []*AgentRow {
	failed, retried := map[string]bool{}, map[string]bool{}
	for r := range a.All() {
		if a.alertState(r) == city.Failed {
			failed[r.Name] = true
		}
	}
	rows := make([]AgentRow, len(e.Snap.Agents))
	for i := range rows {
		rows[i] = NewAgentRow(&e.Snap.Agents[i])
		if r := &rows[i]; r.State == city.Starting && failed[r.Name] {
			retried[r.Name] = true
		}
		a.measured = a.measured || rows[i].Usage != nil
	}
	a.retried = retried
	a.Hours.Observe(e.Snap.Agents, e.Now)
	a.Rates.Observe(e.Snap.Agents, e.Now, e.Snap.Patrol.Interval)
	return widget.Pointers(rows)
}

func (a *Agents) findName(word string) string {
	for r := range a.All() {
		if strings.EqualFold(r.Name, word) {
			return r.Name
		}
	}
	return ""
}

// sorted returns the agents that keep accepts, in natural order.
func (a *Agents) sorted(keep func(*AgentRow) bool) []*AgentRow {
	rows := a.Where(keep)
	slices.SortFunc(rows, func(a, b *AgentRow) int { return city.CompareNames(a.Name, b.Name) })
	return rows
}

func (a *Agents) rigOf(name string) string {
	if r := a.Find(name); r != nil {
		return r.Rig
	}
	return ""
}

// AgentSign returns the symbol and the color for a state.
func AgentSign(l *widget.Styles, s city.State) (string, themes.Token) {
	switch s {
	case city.Running:
		return l.Glyphs.Running, themes.Good
	case city.Starting:
		return l.Glyphs.Starting, themes.Busy
	case city.Waiting:
		return l.Glyphs.Waiting, themes.Busy
	case city.Draining:
		return l.Glyphs.Leaving, themes.Busy
	case city.Stopping:
		return l.Glyphs.Stopping, themes.Busy
	case city.Backoff:
		return l.Glyphs.Backoff, themes.Warn
	case city.Unknown:
		return l.Glyphs.Unknown, themes.Warn
	case city.Suspended:
		return l.Glyphs.Suspended, themes.Off
	case city.Exited:
		return l.Glyphs.Exited, themes.Off
	case city.Stopped:
		return l.Glyphs.Stopped, themes.Off
	case city.Quarantined:
		return l.Glyphs.Quarantined, themes.Bad
	}
	return l.Glyphs.Failed, themes.Bad
}

// ConditionOf returns an agent's condition as text with a symbol, and its color.
func ConditionOf(k *widget.Styles, r *AgentRow) (string, themes.Token) {
	sign, word, token := AgentCondition(k, r.Condition())
	return sign + " " + word, token
}

// AgentCondition is like ConditionOf, for the alert state of an agent.
func AgentCondition(l *widget.Styles, s city.State) (sign, word string, token themes.Token) {
	if s == describe.Asking || s == describe.Stuck {
		return l.Glyphs.Alert, string(s), themes.Warn
	}
	sign, token = AgentSign(l, s)
	return sign, string(s), token
}

const StateWidth = 11 // width of "quarantined", the longest state

// On screens of at least sparkFrom columns, each row has a CPU chart of sparkWidth columns, one per minute.
const sparkFrom, sparkWidth = 160, 10

// Columns returns the columns of the Agents panel that fit into w.
func (a *Agents) Columns(e *Env, rows []*AgentRow, w int) []Column[*AgentRow] {
	if own := a.fitColumns(w); own != nil {
		return chosenColumns(e, own)
	}
	c, kinds := AgentColumns(w, a.WidthsFor(e, rows)), agentColumnKinds()
	column := func(name string, w, gap int) Column[*AgentRow] {
		k := slices.IndexFunc(kinds, func(k columnKind) bool { return k.name == name })
		out := sizedColumn{kinds[k], w}.column(e)
		out.Gap = gap
		return out
	}
	return append([]Column[*AgentRow]{
		column("state", c.state, 0),
		column("name", c.Name, c.gap),
	}, visible([]Column[*AgentRow]{
		{W: c.mark, Gap: 1, Text: styled(themes.Accent, func(r *AgentRow) string {
			return r.mark(e.Look)
		})},
		column("why", c.Why, c.gap),
		column("age", c.Age, 2),
		column("cpu", c.CPU, 2),
		{Head: a.Hours.Period(e.Now, sparkWidth*time.Minute, "last 10m"), Order: "cpu",
			W: c.Spark, Gap: 2,
			Cell: func(l *widget.Line, r *AgentRow, _ widget.RowState) {
				l.Add(themes.Dim, a.Hours.CPU(r.Name, e.Now, &e.Look.Glyphs, c.Spark))
			}},
		column("mem", c.Mem, 2),
		column("restarts", c.Restarts, 2),
		column("pid", c.PID, 2),
	})...)
}

func (r *AgentRow) mark(l *widget.Styles) string {
	text := ""
	if r.Task != "" {
		text = l.Glyphs.Starting
	}
	if r.Mail > 0 {
		text += l.Glyphs.Mail + strconv.Itoa(min(r.Mail, 99))
	}
	return text
}

// WidthsFor returns the widths that the columns need to show the rows in full.
func (a *Agents) WidthsFor(e *Env, rows []*AgentRow) Widths {
	// before usage is known, show its columns anyway, so that they do not appear later
	n := Widths{Usage: a.measured || e.Snap != nil && e.Now.Sub(e.Snap.Started) < time.Minute}
	if e.W >= sparkFrom {
		n.Spark = sparkWidth
	}
	names := make([]int, 0, len(rows))
	for _, r := range rows {
		names = append(names, widget.Width(r.Shown))
		n.Name = max(n.Name, widget.Width(r.Shown))
		n.Mark = max(n.Mark, widget.Width(r.mark(e.Look)))
		n.Why = max(n.Why, widget.Width(r.Why)+3+widget.Width(r.nextText(e).Full))
	}
	n.Names = Typical(names)
	return n
}

func (r *AgentRow) nextText(e *Env) widget.Phrase {
	if r.Condition() != r.State && r.State != city.Draining {
		return widget.SamePhrase("for " + widget.Since(r.ConditionSince(), e.Now))
	}
	if r.State == city.Running && r.attached() {
		return widget.SamePhrase("attached")
	}
	if o := r.NextChange(e); o.Full != "" || !r.attached() {
		return o
	}
	return widget.SamePhrase("attached")
}

func (r *AgentRow) reasonFor(e *Env) widget.Reason {
	b := widget.Reason{Text: r.Why, Brief: r.whyBrief, Token: themes.Text,
		Next: r.nextText(e)}
	if r.State == city.Suspended || r.State == city.Exited {
		b.Token = themes.Dim
	}
	_, b.NextToken = AgentSign(e.Look, r.State)
	switch {
	case r.Condition() != r.State:
		b.Token, b.NextToken = themes.Warn, themes.Warn
	case r.State == city.Running:
		b.NextToken = themes.Accent
	}
	return b
}

func agentHelp(e *Env, w int) []string {
	return e.Look.Notes(w, "This city has no agents yet. Add one to "+
		widget.Plain(e.Snap.Path)+"/city.toml:", "",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"It starts when the file is saved.")
}

// Matches reports whether a row matches a term of the filter.
func (r *AgentRow) Matches(t *widget.Term, _ time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(string(r.State)) || t.Begins(string(r.Condition()))
	case "pool":
		return t.BeginsName(r.Pool)
	case "rig":
		return t.Begins(r.Rig)
	case "provider":
		return t.Begins(r.Provider)
	case "name":
		return t.Begins(r.Name)
	}
	return t.In(r.Shown) || !t.Fuzzy && (!t.Not && widget.Abbreviates(t.Word, r.Name) ||
		t.In(string(r.State)) || t.In(r.Why) || t.In(string(r.Condition())) ||
		r.attached() && t.In("attached"))
}
