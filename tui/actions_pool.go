package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/city"
)

// poolActions are about the pool under the cursor of Pools.
func poolActions() []action {
	here := []zone{inPools}
	return []action{
		{id: "pool.details", key: bind("show the pool in detail: members, check and its output, last decisions", "enter"), short: "details", in: here,
			why: needPool, run: (*model).showPool},
		{id: "pool.scale", key: bind("set the pool's size by hand, or give it back to its check", "S"), short: "size", in: here,
			risk: confirmed, why: needPoolVerb, run: (*model).askScale},
		{id: "pool.less", key: bind("run one member less", "<"), short: "less", in: here, risk: confirmed, why: needLess,
			run: func(m *model) []effect { p := m.pool(); return m.scale(p, m.wanted(p)-1) }},
		{id: "pool.more", key: bind("run one member more", ">"), short: "more", in: here, why: needMore,
			run: func(m *model) []effect { p := m.pool(); return m.scale(p, m.wanted(p)+1) }},
	}
}

func needPool(m *model) string {
	if m.pool() == nil {
		return "no pool is selected; 2 goes to them"
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

// pool is what the verbs of pools are about: the one under the cursor where Pools has the focus, else that of the selected
// agent; nil if there is none.
func (m *model) pool() *poolRow {
	if m.focus == panelPools {
		return m.pools.under()
	}
	if r := m.selected(); r != nil {
		return m.pools.find(r.pool)
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
	const echo = 2 * time.Second
	if m.scaled.pool == p.name && m.now.Sub(m.scaled.at) < echo && !m.status.failed {
		return m.scaled.size
	}
	if p.override != nil {
		return *p.override
	}
	return min(max(p.desired, p.min), p.max)
}

// askScale asks for a size, and for another one as long as it is none that the pool may have.
func (m *model) askScale() []effect {
	p := *m.pool()
	m.prompt = &prompt{
		label:  fmt.Sprintf("scale %s to (%s, or auto; %s)", p.shown, p.bounds(), p.checkSays()),
		hint:   "enter sets  esc leaves",
		edit:   newEntry(""),
		refuse: func(text string) string { _, _, why := p.sizeOf(text); return why },
		done: func(m *model, text string) []effect {
			size, auto, why := p.sizeOf(text)
			now := m.pools.find(p.name)
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
		},
	}
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
		return 0, false, fmt.Sprintf("%q is no size: a number from %d to %d, or auto", text, r.min, r.max)
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
		m.scaled = scaling{pool: name, size: size, at: m.now}
		return m.carry(fmt.Sprintf("scaling to %d", size), "pool "+plain(name), []city.Command{city.Scale{Pool: name, Size: size}})
	}
	return m.askLeaving(question{title: fmt.Sprintf("Scale %s to %d?", p.shown, size), verb: "scale", do: do}, m.beyond(p, size))
}

// auto gives a pool back to its check; where it is known that members have to go for it, it asks.
func (m *model) auto(p *poolRow) []effect {
	name, size := p.name, p.max
	if p.check.Good != nil {
		size = min(max(p.check.Value, p.min), p.max)
	}
	do := func(m *model) []effect {
		m.scaled = scaling{}
		return m.carry("giving back to its check", "pool "+plain(name), []city.Command{city.Scale{Pool: name, Auto: true}})
	}
	return m.askLeaving(question{title: "Give " + p.shown + " back to its check?", verb: "give it back", do: do}, m.beyond(p, size))
}

// askLeaving asks only where members leave for it; else it is done at once.
func (m *model) askLeaving(q question, leaving []*agentRow) []effect {
	if len(leaving) == 0 {
		return q.do(m)
	}
	q.whom, q.body, q.count = []string{listedRows(leaving)}, m.drainMeans(leaving)[:1], len(leaving)
	m.ask(q)
	return nil
}

// beyond are the members that leave when a pool gets a size: those that come last.
func (m *model) beyond(p *poolRow, size int) []*agentRow {
	var living []*agentRow
	for _, r := range m.members(p.name) {
		if r.drainable() {
			living = append(living, r)
		}
	}
	return living[min(size, len(living)):]
}
