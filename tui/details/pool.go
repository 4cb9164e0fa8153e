package details

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Pool returns everything known about a pool: its size, its check, its members.
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
			fmt.Sprintf("%d, instead of the check's result; %s, then auto, returns it to the check",
				*r.Override, src.KeyOf("pool.scale"))))
	}
	if next := panel.NextText(p.Next, src.Now); next != "" {
		lines = append(lines, src.Look.Field("next", next))
	}
	lines = append(lines, checkFields(src, r)...)
	wait := describe.WaitedFor
	if r.Timeout > 0 {
		wait = "killed after " + widget.Duration(r.Timeout)
	}
	lines = append(lines, src.Look.Field("drain", "a member that must leave is asked "+
		"to finish; "+wait))
	if p.Description != "" {
		lines = append(lines, src.Look.Field("about", widget.Plain(p.Description)))
	}
	if r.Rig != "" {
		lines = append(lines, src.Look.Field("rig", rigText(src, r.Rig)))
	}
	lines = append(lines, src.Look.Field("declared", src.Declared(p.Source, p.Patched)), "",
		src.Look.Paint(themes.Title, "Members"))
	lines = append(lines, memberLines(src, name)...)
	return append(lines, panel.Decisions(src.Env, p.Decisions)...)
}

// checkFields returns the check, its result, and the end of its output.
func checkFields(src *Source, r *panel.PoolRow) []string {
	c := &r.Check
	command := widget.Plain(c.Command)
	if command == "" {
		command = "none: open work is counted"
	}
	result := r.CheckText(src.Now)
	if c.At != nil && c.Took > 0 {
		result += "; it took " + c.Took.Round(time.Millisecond).String()
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

// Members returns a pool's agents in natural order.
func Members(src *Source, name string) []*panel.AgentRow {
	var all []*panel.AgentRow
	for i := range src.Agents.Rows {
		if r := &src.Agents.Rows[i]; r.Pool == name {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *panel.AgentRow) int {
		return city.CompareNames(a.Name, b.Name)
	})
	return all
}

// memberLines lists a pool's members with their states.
func memberLines(src *Source, name string) []string {
	members := Members(src, name)
	if len(members) == 0 {
		return []string{src.Look.Paint(themes.Dim, "None.")}
	}
	longest := 0
	for _, r := range members {
		longest = max(longest, widget.Width(r.Shown))
	}
	lines := make([]string, len(members))
	for i, r := range members {
		sign, token := panel.AgentSign(src.Look, r.State)
		text := r.Why
		if e := r.Ends(src.Env).Full; e != "" {
			text += " " + src.Look.Glyphs.Dot + " " + e
		}
		lines[i] = src.Look.Paint(token, widget.Fit(sign+" "+string(r.State), panel.StateWidth+2,
			"")) +
			"  " + widget.Fit(r.Shown, longest, "") + "  " +
			widget.FitRight(widget.Age(src.Now.Sub(r.Since)), 4, "") + "  " + text
	}
	return lines
}
