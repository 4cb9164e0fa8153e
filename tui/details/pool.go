package details

import (
	"cmp"
	"fmt"
	"slices"

	"gcity/city"
	"gcity/describe"
	"gcity/internal/span"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Pool returns the details of a pool: its size, its check, its members.
func Pool(src *Source, name string) []string {
	r := src.Pools.Find(name)
	if r == nil {
		return []string{"This pool is no longer part of the city."}
	}
	p, state := newPage(src), r.State(src.Now)
	sign, token := panel.PoolSign(p.Look, state)
	p.Show("state", p.Paint(token, sign+" "+string(state)))
	p.Show("size", r.Sizes()+fmt.Sprintf(", at least %d, at most %d", r.Min, r.Max))
	p.Show("why", r.Reason+", since "+widget.Clock(r.Since, p.Now))
	if r.Override != nil {
		p.Show("by hand",
			fmt.Sprintf("%d, instead of the check's result; press %s, then type \"auto\" to use "+
				"the check",
				*r.Override, p.KeyOf("pool.scale")))
	}
	p.ShowKnown("next", panel.NextText(r.Next, p.Now))
	p.showCheck(r)
	wait := describe.NoDeadline
	if r.Timeout > 0 {
		wait = "killed after " + widget.Duration(r.Timeout)
	}
	p.Show("drain", "a member that must leave is asked to finish first; "+wait)
	p.ShowKnownPlain("about", r.Description)
	p.ShowKnown("rig", rigText(src, r.Rig))
	p.Show("declared", p.Declared(r.Pool.Source, r.Patched))
	p.Heading("Members")
	p.Add(panel.AgentLines(p.Env, p.Pools.Members(name))...)
	p.Add(panel.Decisions(p.Env, r.Decisions)...)
	return p.Lines
}

func (p *page) showCheck(r *panel.PoolRow) {
	c := &r.Check
	result := r.CheckText(p.Now)
	if c.At != nil && c.Took > 0 {
		result += "; it took " + span.Took(c.Took)
	}
	if c.Problem != "" {
		result = p.Paint(themes.Bad, result)
	}
	p.Show("check", cmp.Or(widget.Plain(c.Command), "none: open beads are counted"))
	p.Show("result", result)
	p.ShowAll("output", widget.PlainLines(c.Output))
}

// PredictLeaving predicts which members would leave if a pool were scaled to the given size.
func PredictLeaving(src *Source, name string, size int) []*panel.AgentRow {
	var idle, busy []*panel.AgentRow
	for _, r := range src.Pools.Members(name) {
		switch {
		case !r.Drainable():
		case r.Task == "":
			idle = append(idle, r)
		default:
			busy = append(busy, r)
		}
	}
	stay := max(0, size-len(busy))
	leaving := append(idle[min(stay, len(idle)):], busy[min(size, len(busy)):]...)
	slices.SortFunc(leaving, func(a, b *panel.AgentRow) int {
		return city.CompareNames(a.Name, b.Name)
	})
	return leaving
}

// AutoSize returns the largest size that the pool's check might set.
func AutoSize(p *panel.PoolRow) int {
	if p.Check.Good == nil {
		return p.Max
	}
	return min(max(p.Check.Value, p.Min), p.Max)
}
