package details

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// City returns the details of the whole city, its problems first. selected is the FirstRow of the problem with the
// cursor; "" = no cursor.
func City(s *Source, selected string) []string {
	p := newPage(s)
	for _, a := range s.Env.Alerts() {
		for i, part := range strings.Split(a.Details(s.Look), "\n") {
			sign := " "
			if i == 0 {
				sign = a.Sign(s.Look, selected != "" && a.FirstRow() == selected)
			}
			p.Add(sign + " " + part)
		}
	}
	if len(p.Lines) == 0 {
		p.Add(p.Paint(themes.Good, p.Glyphs.OK) + " no problems")
	}
	c := s.Snap
	p.Add("")
	p.ShowPlain("folder", c.Path)
	p.ShowPlain("host", c.Host)
	p.ShowPlain("version", c.Version)
	p.Show("run by", fmt.Sprintf("%s, up %s",
		widget.Plain(describe.Runner(c.Mode, c.PID)), widget.Since(c.Started, s.Now)))
	p.Show("config", fmt.Sprintf("revision %s, in force since %s",
		widget.Plain(c.Config.Revision), widget.Clock(c.Config.Loaded, s.Now))+whileRejected(c))
	p.Show("patrol", fmt.Sprintf("every %s, last %s ago", c.Patrol.Interval,
		widget.Age(c.Patrol.Age(s.Now))))
	p.Show("events", fmt.Sprintf("%d so far", c.Seq))
	if h := c.Config.Held; h != nil {
		p.Add("", p.Paint(themes.Title, "Held configuration")+" "+widget.Plain(h.Revision)+
			", since "+widget.Clock(h.Since, s.Now))
		p.Add(Held(s, h, len(h.Removes))...)
	}
	if len(c.Rigs) > 0 {
		p.Heading("Rigs")
	}
	for i := range c.Rigs {
		p.Add(Rig(s, &c.Rigs[i]))
	}
	return p.Lines
}

func whileRejected(c *city.Snapshot) string {
	switch {
	case c.Config.Rejected == "":
		return ""
	case c.Config.Trust != "":
		return "; changes on disk wait for your trust: run `" +
			widget.Plain(c.Config.Trust) + "`"
	}
	return "; the configuration on disk is invalid"
}

// Held returns the effects of a held configuration as text, most severe first. It names at most the given number of
// agents that would stop.
func Held(s *Source, h *city.Held, most int) []string {
	who := ByPool(s.Lists, h.Removes)
	if n := len(who) - most; n > 0 {
		who = append(who[:most:most], fmt.Sprintf("and %d more (%s lists them all)", n,
			s.KeyOf("city.details")))
	}
	lines := []string{"It " + fleet.HeldText(h) + ", which stop: " + strings.Join(who, ", ") + ".",
		"",
		"Its plan:"}
	for _, p := range h.Plan {
		lines = append(lines, "  "+widget.Plain(p))
	}
	return lines
}

// ByPool returns the names of agents in natural order, with the members of each pool combined: "scout", "worker (8
// members)".
func ByPool(l *panel.Lists, agents []string) []string {
	leaving := map[string]int{}
	pool := func(name string) string {
		if r := l.Agents.Find(name); r != nil && r.Pool != name {
			return r.Pool
		}
		return ""
	}
	for _, name := range agents {
		leaving[pool(name)]++
	}
	var names []string
	said := map[string]bool{"": true}
	agents = slices.Clone(agents)
	slices.SortFunc(agents, city.CompareNames)
	for _, name := range agents {
		p := pool(name)
		switch n, all := leaving[p], len(l.Pools.Members(p)); {
		case p == "" || n == 1:
			names = append(names, widget.Plain(name))
		case said[p]:
		case n == all:
			names = append(names, fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"members)",
				widget.Plain(p), n))
		default:
			names = append(names, fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"of"+widget.NBSP+
				"%d"+widget.NBSP+"members)", widget.Plain(p), n, all))
		}
		said[p] = true
	}
	return names
}
