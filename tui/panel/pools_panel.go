package panel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Pools is the panel that lists the city's pools.
type Pools struct {
	Table[*PoolRow]
	agents *Agents
}

func newPools(all *Agents) *Pools {
	p := &Pools{agents: all}
	p.Table = NewTable(Definition[*PoolRow]{
		About: About{ID: IDPools, Title: "Pools", Hotkey: "2", Noun: "pool",
			Zone: keymap.InPools, Kind: KindPool,
			Opens: "pool.member", Details: "pool.details", Nouns: []string{"pool", "rig"},
			Explains: true, Share: 5, MinHeight: 2, Described: true},
		Rows:    p.build,
		Orders:  poolSorts,
		Matches: (*PoolRow).matches,
		Needs:   (*PoolRow).Attention,
		Columns: poolColumns,
		Issues:  p.issues,
		Help:    poolHelp,
		Rig:     func(r *PoolRow) string { return r.Rig },
		Called:  func(r *PoolRow) string { return "pool " + r.Shown },
		Copies: func(r *PoolRow) []Copied {
			return []Copied{{"name", r.Name}, {"check", r.Check.Command},
				{"check output", r.Check.Output},
				{"where it is declared", r.Source}}
		},
		Summary: p.summary,
		Actions: p.actions,
	})
	return p
}

func (p *Pools) actions() []Action {
	return []Action{{Action: Key{ID: "pool.members",
		Key: keymap.Bind("show only the pool's members", ".", "right"),
		Run: func(*Env) []Request {
			return []Request{{GoTo: IDAgents, Filter: "pool:" + p.Current().Name}}
		}}}}
}

func (p *Pools) build(e *Env) []*PoolRow {
	rows, crashing := make([]PoolRow, 0, len(e.Snap.Pools)), p.crashingPools(e.Now)
	for i := range e.Snap.Pools {
		row := NewPoolRow(&e.Snap.Pools[i])
		row.drained = p.drainedByUser(&e.Snap.Pools[i])
		row.crashing = row.Desired > 0 && crashing[row.Name]
		if row.unmet() {
			row.short = e.Now
			if old := p.Find(row.Name); old != nil && old.unmet() {
				row.short = old.short
			}
		}
		rows = append(rows, row)
	}
	return widget.Pointers(rows)
}

func (p *Pools) drainedByUser(pool *city.Pool) (n int) {
	for _, name := range pool.Draining {
		if r := p.agents.Find(name); r != nil && r.Drain != nil &&
			r.Drain.By != "pool" && r.Drain.By != "host" {
			n++
		}
	}
	return n
}

func (p *Pools) crashingPools(now time.Time) map[string]bool {
	crash, sound := map[string]bool{}, map[string]bool{}
	for r := range p.agents.All() {
		switch {
		case r.Pool == "":
		case r.State == city.Suspended, r.State == city.Exited, r.State == city.Stopped:
		case p.agents.alertState(r) == city.Failed, r.State == city.Quarantined, r.flaps(now),
			r.State == city.Backoff && r.Crashes > 1:
			crash[r.Pool] = true
		default:
			sound[r.Pool] = true
		}
	}
	maps.DeleteFunc(crash, func(pool string, _ bool) bool { return sound[pool] })
	return crash
}

// PoolSign returns the symbol and the color for a pool's state.
func PoolSign(l *widget.Styles, s poolState) (string, themes.Token) {
	switch s {
	case poolFailing:
		return l.Glyphs.Failed, themes.Bad
	case poolShort:
		return l.Glyphs.Alert, themes.Warn
	case poolGrowing:
		return l.Glyphs.Starting, themes.Busy
	case poolDraining:
		return l.Glyphs.Leaving, themes.Busy
	case poolShrinking:
		return l.Glyphs.Shrinking, themes.Busy
	case poolSuspended:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Running, themes.Good
}

func poolColumns(e *Env, rows []*PoolRow, w int) []Column[*PoolRow] {
	// the longest state is "suspended"; a sign and a space precede it
	state, name, size, bounds, gap := len(poolSuspended)+2, 6, 4, 7, 2
	longest, need := 0, 0
	for _, r := range rows {
		text, _ := r.Why(e.Now)
		longest = max(longest, widget.Width(r.Shown))
		need = max(need, widget.Width(text)+3+widget.Width(r.leaving().Brief))
		size, bounds = max(size, len(r.sizeText())), max(bounds, len(r.Bounds()))
	}
	name = min(max(name, longest), max(8, min(28, w/4)))
	if w < 60 {
		bounds = 0
	}
	if w < 50 {
		gap, name = 1, min(name, 9)
	}
	// room for most of "check returned 2, 8s ago"; beyond that, a full name is more important
	said := 20
	if w < 70 {
		said = 14
	}
	need = min(need, said)
	why := w - 4 - state - gap - name - gap - size - gap
	if w < 70 && why-bounds-gap < need {
		bounds = 0
	}
	if bounds > 0 {
		why -= bounds + gap
	}
	if w >= 50 {
		spare := max(0, min(longest-name, why-need))
		name, why = name+spare, why-spare
	}
	return Spaced(gap,
		Column[*PoolRow]{Head: "state", W: state, Text: func(r *PoolRow) (string, themes.Token) {
			sign, token := PoolSign(e.Look, r.State(e.Now))
			return sign + " " + string(r.State(e.Now)), token
		}},
		nameColumn(name, func(r *PoolRow) string { return r.Shown }),
		Column[*PoolRow]{Head: "size", W: size, Right: true,
			Text: func(r *PoolRow) (string, themes.Token) {
				token := themes.Text
				if r.Size != r.Desired {
					_, token = PoolSign(e.Look, r.State(e.Now))
				}
				return r.sizeText(), token
			}},
		textColumn("min-max", bounds, themes.Dim, (*PoolRow).Bounds).right(),
		reasonColumn("check", why, func(r *PoolRow) widget.Reason { return r.reason(e.Now, why) }))
}

func (r *PoolRow) reason(now time.Time, w int) widget.Reason {
	b := widget.Reason{Next: r.leaving(), NextToken: themes.Busy}
	b.Text, b.Token = r.Why(now)
	if w < 16 { // room only for the number
		for _, known := range []string{"check ", "counts open ", "set "} {
			b.Text = strings.TrimPrefix(b.Text, known)
		}
	}
	return b
}

func (r *PoolRow) sizeText() string { return fmt.Sprintf("%d/%d", r.Size, r.Desired) }

func (r *PoolRow) Bounds() string { return fmt.Sprintf("%d-%d", r.Min, r.Max) }

func (r *PoolRow) leaving() widget.Phrase {
	switch len(r.Draining) {
	case 0:
		return widget.Phrase{}
	case 1:
		if r.isShort() {
			return widget.Phrase{Full: "waiting for " + r.Draining[0] + " to finish",
				Brief: "1 draining"}
		}
		return widget.Phrase{Full: r.Draining[0] + " draining", Brief: "1 draining"}
	}
	return widget.SamePhrase(strconv.Itoa(len(r.Draining)) + " draining")
}

// Why says why a pool has its size.
func (r *PoolRow) Why(now time.Time) (string, themes.Token) {
	text := r.CheckText(now)
	switch {
	case r.Suspended != "":
		return r.Suspended, themes.Dim
	case r.restart != "":
		return r.restart, themes.Busy
	case r.crashing && r.Check.Problem == "":
		return "no member keeps running; " + text, themes.Bad
	case r.Override != nil && r.Check.Problem != "":
		return fmt.Sprintf("set by hand to %d; %s", *r.Override, text), themes.Bad
	case r.Override != nil && r.Check.Good == nil:
		return fmt.Sprintf("set by hand to %d", *r.Override), themes.Warn
	case r.Override != nil:
		return fmt.Sprintf("set by hand to %d; %s", *r.Override, text), themes.Warn
	case r.Check.Problem != "":
		return text, themes.Bad
	}
	return text, themes.Text
}

// CheckText returns the result of the check and its age.
func (r *PoolRow) CheckText(now time.Time) string {
	c := &r.Check
	asking := ""
	if c.Running != nil && now.Sub(*c.Running) >= 2*time.Second {
		asking = "; running for " + widget.Since(*c.Running, now)
	}
	switch {
	case c.Problem != "":
		kept := "; no valid result yet"
		if c.Good != nil {
			kept = fmt.Sprintf("; last result %d, %s", c.Value, widget.Ago(*c.Good, now))
		}
		when := ""
		if c.At != nil {
			when = " " + widget.Ago(*c.At, now)
		}
		return "check failed" + when + ": " + c.Problem + kept + asking
	case c.Good != nil && c.Command == "":
		return fmt.Sprintf("open beads: %d", c.Value) + r.bound() + asking
	case c.Good != nil:
		return fmt.Sprintf("check returned %d, %s", c.Value, widget.Ago(*c.Good, now)) +
			r.bound() + asking
	case c.Command == "":
		return "open beads not counted yet" + asking
	case c.Running != nil:
		return "first check running for " + widget.Since(*c.Running, now)
	case r.Reason != "":
		return r.Reason
	}
	return "not checked yet"
}

// AfterDrain says what happens when one member has drained.
func (r *PoolRow) AfterDrain() string {
	wants := fmt.Sprintf("Pool %s wants %s (min is %d), ", r.Shown,
		widget.Count(r.Desired, "member"), r.Min)
	if r.Size > r.Desired {
		return wants + "so no new session will start."
	}
	return wants + "so a new session will start."
}

func (r *PoolRow) bound() string {
	switch {
	case r.Override != nil:
		return ""
	case r.Check.Value > r.Max:
		return fmt.Sprintf("; max is %d", r.Max)
	case r.Check.Value < r.Min:
		return fmt.Sprintf("; min is %d", r.Min)
	}
	return ""
}

// Members returns a pool's agents in natural order.
func (p *Pools) Members(name string) []*AgentRow {
	return p.agents.sorted(func(r *AgentRow) bool { return r.Pool == name })
}

func poolHelp(e *Env, w int) []string {
	return e.Look.Notes(w, "No pools yet. An agent with an [agents.pool] table is a pool.",
		"A check returns how many members to run. In "+
			widget.Plain(e.Snap.Path)+"/city.toml:", "",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"    [agents.pool]", "    min = 1", "    max = 3",
		`    check = "cat wanted"    # prints the number of members`)
}

func (r *PoolRow) matches(t *widget.Term, now time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(string(r.State(now)))
	case "rig":
		return t.Begins(r.Rig)
	case "pool", "name":
		return t.BeginsName(r.Name)
	case "":
		why, _ := r.Why(now)
		return t.In(r.Shown) || !t.Fuzzy && (t.In(string(r.State(now))) || t.In(why) ||
			t.In(r.leaving().Full))
	}
	return false
}

func (p *Pools) summary(e *Env, r *PoolRow, w int) []string {
	dot := e.Look.Between()
	s := newSummary(e, w, "pool "+r.Shown, r.Source)
	state := r.State(e.Now)
	sign, token := PoolSign(e.Look, state)
	head := sign + " " + string(state) + dot + r.Sizes() + dot + r.Bounds()
	if next := NextText(r.Next, e.Now); next != "" {
		head += dot + next
	}
	s.add(token, head)
	why, color := r.Why(e.Now)
	s.add(color, why)
	out := lastLine(r.Check.Output)
	if out != "" && r.Check.Problem != "" {
		s.add(themes.Dim, "output: "+out)
	}
	members := p.Members(r.Name)
	slices.SortStableFunc(members, func(a, b *AgentRow) int { return rank(a, b, e.Now) })
	for _, text := range AgentLines(e, members) {
		s.lines = append(s.lines, widget.CutStyled(" "+text, w, e.Look.Glyphs.More))
	}
	if out != "" && r.Check.Problem == "" {
		s.add(themes.Dim, "output: "+out)
	}
	if last := lastDecision(e, r.Decisions); last != "" {
		s.add(themes.Dim, last)
	}
	return s.lines
}

func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(widget.Plain(lines[i])); s != "" {
			return s
		}
	}
	return ""
}

// Sizes returns the numbers of running and desired members: "2/3 live".
func (r *PoolRow) Sizes() string { return fmt.Sprintf("%d/%d live", r.Size, r.Desired) }
