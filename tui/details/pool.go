package details

import (
	"fmt"
	"slices"
	"strings"

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
	p, ok := src.Snap.Pool(name)
	if r == nil || !ok {
		return []string{"This pool is no longer part of the city."}
	}
	state := r.State(src.Now)
	sign, token := panel.PoolSign(src.Look, state)
	lines := []string{
		src.Look.Field("state", src.Look.Paint(token, sign+" "+string(state))),
		src.Look.Field("size", r.Sizes()+fmt.Sprintf(", at least %d, at most %d", r.Min, r.Max)),
		src.Look.Field("why", r.Reason+", since "+widget.Clock(r.Since, src.Now)),
	}
	if r.Override != nil {
		lines = append(lines, src.Look.Field("by hand",
			fmt.Sprintf("%d, instead of the check's result; %s and \"auto\" use the check again",
				*r.Override, src.KeyOf("pool.scale"))))
	}
	if next := panel.NextText(p.Next, src.Now); next != "" {
		lines = append(lines, src.Look.Field("next", next))
	}
	lines = append(lines, checkFields(src, r)...)
	wait := describe.NoDeadline
	if r.Timeout > 0 {
		wait = "killed after " + widget.Duration(r.Timeout)
	}
	lines = append(lines, src.Look.Field("drain", "a member that must leave is asked to "+
		"finish first; "+wait))
	if p.Description != "" {
		lines = append(lines, src.Look.Field("about", widget.Plain(p.Description)))
	}
	if r.Rig != "" {
		lines = append(lines, src.Look.Field("rig", rigText(src, r.Rig)))
	}
	lines = append(lines, src.Look.Field("declared", src.Declared(p.Source, p.Patched)), "",
		src.Look.Paint(themes.Title, "Members"))
	lines = append(lines, panel.AgentLines(src.Env, src.Pools.Members(name))...)
	return append(lines, panel.Decisions(src.Env, p.Decisions)...)
}

func checkFields(src *Source, r *panel.PoolRow) []string {
	c := &r.Check
	command := widget.Plain(c.Command)
	if command == "" {
		command = "none: open beads are counted"
	}
	result := r.CheckText(src.Now)
	if c.At != nil && c.Took > 0 {
		result += "; it took " + span.Took(c.Took)
	}
	if c.Problem != "" {
		result = src.Look.Paint(themes.Bad, result)
	}
	lines := []string{src.Look.Field("check", command), src.Look.Field("result", result)}
	label := "output"
	for _, text := range strings.Split(strings.TrimRight(c.Output, "\n"), "\n") {
		if text = widget.Plain(text); text != "" {
			lines = append(lines, src.Look.Field(label, text))
			label = ""
		}
	}
	return lines
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
