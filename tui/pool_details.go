package tui

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

// poolDetails is everything known of a pool: where its size comes from, what its check said, who is in it.
func poolDetails(m *model, name string) []string {
	r := m.Pools.Find(name)
	p, ok := m.snap.Pool(name)
	if r == nil || !ok {
		return []string{"This pool is no longer part of the city."}
	}
	state := r.State(m.now)
	sign, token := panel.PoolSign(&m.look, state)
	lines := []string{
		m.look.Field("state", m.look.Paint(token, sign+" "+string(state))),
		m.look.Field("size", r.Sizes()+fmt.Sprintf(", at least %d, at most %d", r.Min, r.Max)),
		m.look.Field("why", r.Reason+", since "+widget.Clock(r.Since, m.now)),
	}
	if r.Override != nil {
		lines = append(lines, m.look.Field("by hand",
			fmt.Sprintf("%d, whatever the check says; %s, then auto, gives it back to the check",
				*r.Override, m.keys.KeyOf("pool.scale"))))
	}
	if next := panel.NextText(p.Next, m.now); next != "" {
		lines = append(lines, m.look.Field("next", next))
	}
	lines = append(lines, checkFields(m, r)...)
	wait := describe.WaitedFor
	if r.Timeout > 0 {
		wait = "it is ended after " + widget.Duration(r.Timeout)
	}
	lines = append(lines, m.look.Field("drain", "a member that has to go is told to finish; "+wait))
	if p.Description != "" {
		lines = append(lines, m.look.Field("about", widget.Plain(p.Description)))
	}
	if r.Rig != "" {
		lines = append(lines, m.look.Field("rig", rigText(m, r.Rig)))
	}
	lines = append(lines, m.look.Field("declared", declaredText(m, p.Source, p.Patched)), "",
		m.look.Paint(themes.Title, "Members"))
	lines = append(lines, memberLines(m, name)...)
	return append(lines, panel.Decisions(m.env(), p.Decisions)...)
}

// checkFields are the check, what came of it, and the end of what it printed.
func checkFields(m *model, r *panel.PoolRow) []string {
	c := &r.Check
	command := widget.Plain(c.Command)
	if command == "" {
		command = "none: the pool's open work is counted"
	}
	result := r.CheckText(m.now)
	if c.At != nil && c.Took > 0 {
		result += "; it took " + c.Took.Round(time.Millisecond).String()
	}
	if c.Problem != "" {
		result = m.look.Paint(themes.Bad, result)
	}
	lines := []string{m.look.Field("check", command), m.look.Field("result", result)}
	label := "output"
	for _, text := range strings.Split(strings.TrimRight(c.Output, "\n"), "\n") {
		if text = widget.Plain(text); text != "" {
			lines = append(lines, m.look.Field(label, text))
			label = ""
		}
	}
	return lines
}

// members are a pool's agents, as a person counts them.
func members(m *model, name string) []*panel.AgentRow {
	var all []*panel.AgentRow
	for i := range m.Agents.Rows {
		if r := &m.Agents.Rows[i]; r.Pool == name {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *panel.AgentRow) int {
		return city.CompareNames(a.Name, b.Name)
	})
	return all
}

// memberLines are a pool's members with their states.
func memberLines(m *model, name string) []string {
	members := members(m, name)
	if len(members) == 0 {
		return []string{m.look.Paint(themes.Dim, "None.")}
	}
	longest := 0
	for _, r := range members {
		longest = max(longest, widget.Width(r.Shown))
	}
	lines := make([]string, len(members))
	for i, r := range members {
		sign, token := panel.AgentSign(&m.look, r.State)
		text := r.Why
		if e := r.Ends(m.env()).Full; e != "" {
			text += " " + m.look.Glyphs.Dot + " " + e
		}
		lines[i] = m.look.Paint(token, widget.Fit(sign+" "+string(r.State), panel.StateWidth+2,
			"")) +
			"  " + widget.Fit(r.Shown, longest, "") + "  " +
			widget.FitRight(widget.Age(m.now.Sub(r.Since)), 4, "") + "  " + text
	}
	return lines
}
