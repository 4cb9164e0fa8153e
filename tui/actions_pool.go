package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// poolActions are about the pool under the cursor of Pools.
func poolActions() []action {
	here := []keymap.Zone{keymap.InPools}
	return []action{
		{ID: "pool.details",
			Key: keymap.Bind(
				"show the pool in detail: members, check and its output, last decisions", "enter"),
			Short: "details", In: here,
			Why: needPool, Run: (*model).showPool},
		{ID: "pool.scale",
			Key:   keymap.Bind("set the pool's size by hand, or give it back to its check", "S"),
			Short: "size", In: here,
			Risk: keymap.Confirmed, Why: needPoolVerb, Run: (*model).askScale},
		{ID: "pool.less", Key: keymap.Bind("run one member less", "<"), Short: "less", In: here,
			Risk: keymap.Confirmed, Why: needLess,
			Run: func(m *model) []effect { p := m.pool(); return m.scale(p, m.wanted(p)-1) }},
		{ID: "pool.more", Key: keymap.Bind("run one member more", ">"), Short: "more", In: here,
			Why: needMore,
			Run: func(m *model) []effect { p := m.pool(); return m.scale(p, m.wanted(p)+1) }},
	}
}

func needPool(m *model) string {
	if m.pool() == nil {
		return "no pool is selected; " + m.keys.KeyOf("focus.pools") + " goes to them"
	}
	return ""
}

func needPoolVerb(m *model) string {
	if m.mode == ReadOnly {
		return needWritable(m)
	}
	return needPool(m)
}

func needLess(m *model) string {
	why := needPoolVerb(m)
	if p := m.pool(); why == "" && m.wanted(p) <= p.min {
		return fmt.Sprintf("%s is as small as it may be: %d (%s)", p.shown, p.min, p.source)
	}
	return why
}

func needMore(m *model) string {
	why := needPoolVerb(m)
	if p := m.pool(); why == "" && m.wanted(p) >= p.max {
		return fmt.Sprintf("%s is as large as it may be: %d (%s)", p.shown, p.max, p.source)
	}
	return why
}

// pool is what the verbs of pools are about: the one under the cursor where Pools has the focus, else that of the
// agent that is looked at; nil if there is none.
func (m *model) pool() *poolRow {
	if m.focus == panelPools {
		return m.pools.Current()
	}
	if r := m.single(); r != nil {
		return m.pools.Find(r.pool)
	}
	return nil
}

// scaling is a size that was asked for. Until the city has had the time to say so itself it counts as the pool's.
type scaling struct {
	pool string
	size int
	at   time.Time
}

// wanted is the size that one less and one more go from.
func (m *model) wanted(p *poolRow) int {
	if m.scaling(p) {
		return m.scaled.size
	}
	if p.override != nil {
		return *p.override
	}
	return min(max(p.desired, p.min), p.max)
}

// scaling reports whether a size was asked for that the city may not have heard of yet.
func (m *model) scaling(p *poolRow) bool {
	const echo = 2 * time.Second
	return m.scaled.pool == p.name && m.now.Sub(m.scaled.at) < echo && !m.status.failed
}

// askScale asks for a size, and for another one as long as it is none that the pool may have.
func (m *model) askScale() []effect {
	p := *m.pool()
	m.dialogs.Open(&prompt{
		Live: func() string {
			known := &p
			if now := m.pools.Find(p.name); now != nil {
				known = now
			}
			return fmt.Sprintf("scale %s to (%s, or auto; %s)", p.shown, known.bounds(),
				strings.TrimPrefix(known.checkSays(), "the "))
		},
		Hint:   m.keys.Hint("  ", "prompt.done", "sets", "prompt.cancel", "leaves"),
		Edit:   widget.NewEntry(""),
		Refuse: func(text string) string { _, _, why := p.sizeOf(text); return why },
		Done: func(text string) task {
			return func(m *model) []effect {
				size, auto, why := p.sizeOf(text)
				now := m.pools.Find(p.name)
				switch {
				case why != "" || text == "":
					return nil
				case now == nil:
					m.complain("cannot scale " + p.shown + ": it is no longer part of the city")
					return nil
				case auto:
					return m.auto(now)
				}
				return m.scale(now, size)
			}
		},
	})
	return nil
}

// checkSays is what the check wants, in a few words.
func (r *poolRow) checkSays() string {
	switch {
	case r.check.Problem != "":
		return "the check fails"
	case r.check.Good == nil:
		return "not checked yet"
	case r.check.Command == "":
		return fmt.Sprintf("its open work is %d", r.check.Value)
	}
	return fmt.Sprintf("the check says %d", r.check.Value)
}

// sizeOf reads a size, or why it is none for this pool. Nothing at all is no mistake.
func (r *poolRow) sizeOf(text string) (size int, auto bool, why string) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || text == "auto" {
		return 0, text == "auto", ""
	}
	size, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, false, fmt.Sprintf("%q is no size: a number from %d to %d, or auto", text, r.min,
			r.max)
	case size < r.min:
		return 0, false, fmt.Sprintf("at least %d (%s)", r.min, r.source)
	case size > r.max:
		return 0, false, fmt.Sprintf("at most %d (%s)", r.max, r.source)
	}
	return size, false, ""
}

// scale sets a size by hand; where members have to go for it, it asks.
func (m *model) scale(p *poolRow, size int) []effect {
	name := p.name
	do := func(m *model) []effect {
		todo := m.carry(fmt.Sprintf("scaling to %d", size), "pool "+widget.Plain(name),
			[]city.Command{city.Scale{Pool: name, Size: size}})
		m.scaled = scaling{pool: name, size: size, at: m.now}
		return todo
	}
	return m.askLeaving(question{title: fmt.Sprintf("Scale %s to %d?", p.shown, size),
		verb: "scale", do: do}, m.beyond(p, size))
}

// auto gives a pool back to its check; where it is known that members have to go for it, it asks.
func (m *model) auto(p *poolRow) []effect {
	name, size := p.name, p.max
	if p.check.Good != nil {
		size = min(max(p.check.Value, p.min), p.max)
	}
	do := func(m *model) []effect {
		todo := m.carry("giving back to its check", "pool "+widget.Plain(name),
			[]city.Command{city.Scale{Pool: name, Auto: true}})
		m.scaled = scaling{}
		return todo
	}
	return m.askLeaving(question{title: "Give " + p.shown + " back to its check?",
		verb: "give it back", do: do}, m.beyond(p, size))
}

// askLeaving asks only where members leave for it; else it is done at once.
func (m *model) askLeaving(q question, leaving []*agentRow) []effect {
	if len(leaving) == 0 {
		return m.perhaps(q)
	}
	q.whom, q.body, q.count = []string{listedRows(leaving)}, m.drainMeans(leaving)[:1], len(leaving)
	m.ask(q)
	return nil
}

// beyond are the members that leave when a pool gets a size, as far as is known here: those that come last, and
// before any that is at work those that are not.
func (m *model) beyond(p *poolRow, size int) []*agentRow {
	var idle, busy []*agentRow
	for _, r := range m.members(p.name) {
		switch {
		case !r.drainable():
		case r.task == "":
			idle = append(idle, r)
		default:
			busy = append(busy, r)
		}
	}
	stay := max(0, size-len(busy))
	leaving := append(idle[min(stay, len(idle)):], busy[min(size, len(busy)):]...)
	slices.SortFunc(leaving, func(a, b *agentRow) int { return city.CompareNames(a.name, b.name) })
	return leaving
}

// membersAt are the members of the pool under the cursor that have a terminal, the selected agent first.
func (m *model) membersAt() []*agentRow {
	p := m.pools.Current()
	if p == nil {
		return nil
	}
	var rows []*agentRow
	for i := range m.agents.Rows {
		r := &m.agents.Rows[i]
		switch {
		case r.pool != p.name || !r.running:
		case r.name == m.agents.Chosen:
			rows = slices.Insert(rows, 0, r)
		default:
			rows = append(rows, r)
		}
	}
	return rows
}

func (m *model) needMember() string {
	if why := needPool(m); why != "" {
		return why
	}
	if len(m.membersAt()) == 0 {
		return "no member of the pool " + m.pools.Current().shown + " runs: there is no terminal " +
			"to attach to"
	}
	return ""
}

// attachMember attaches to the pool's only member, or asks to which.
func (m *model) attachMember() []effect {
	to := func(name string) []effect {
		m.choose(name)
		return []effect{attach{agent: name}}
	}
	rows := m.membersAt()
	if len(rows) == 1 {
		return to(rows[0].name)
	}
	f := &finder{Title: "Attach to a member of " + m.pools.Current().shown,
		None: "No member is called that."}
	for _, r := range rows {
		f.All = append(f.All, item{Title: r.shown, Words: r.why,
			Tail: string(r.state) + ", " + r.why, Run: func(m *model) []effect {
				if now := m.agents.Find(r.name); now == nil || !now.running {
					m.complain("cannot attach: " + r.shown + " runs no longer")
					return nil
				}
				return to(r.name)
			}})
	}
	m.open(f)
	return nil
}
