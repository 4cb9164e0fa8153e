package fleet

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Details returns the details of a city as of the latest list. runner says which process runs the city.
func (l *List) Details(of *City, runner string, look *widget.Styles, now time.Time) []string {
	c := l.Find(of.Info.Name)
	if of.Unregistered {
		c = of
	}
	if c == nil {
		return []string{of.DisplayName + " is no longer registered."}
	}
	p, h, b := widget.Page{Styles: look}, HealthOf(look, c), &c.Summary
	p.Add(p.Paint(h.Token, h.Sign+" "+h.Word)+" "+c.Why(now), "")
	p.ShowPlain("folder", c.Info.Path)
	// when this city was listed, another one already had its name
	if own := c.Summary.Name; own != "" && own != c.Info.Name && !c.Unregistered {
		p.ShowPlain("listed as", c.Info.Name)
	}
	if c.Info.Running {
		p.ShowKnown("run by", runner)
	}
	if !c.Info.Since.IsZero() {
		p.Show("since", widget.Clock(c.Info.Since, now))
	}
	if c.Info.Crashes > 0 {
		p.Show("crashes", "the controller crashed "+widget.Times(c.Info.Crashes))
	}
	if c.Info.LeftoverSessions > 0 {
		p.Show("left", widget.Count(c.Info.LeftoverSessions, "session")+
			" from an earlier run; `gcity stop` in the city's folder stops them")
	}
	if c.Responded {
		last := ""
		if !c.LastResponse.IsZero() {
			last = ", as of " + widget.Ago(c.LastResponse, now)
		}
		p.Show("agents", fmt.Sprintf("%d of %d running%s", b.Running, b.Agents, last))
		p.Show("work", describe.Work(b.Open, b.InProgress))
		p.Show("mail", fmt.Sprintf("%d unread", b.Unread))
	}
	if len(b.Problems)+len(b.Needs) > 0 {
		p.Heading("Problems")
	}
	for _, problem := range b.Problems {
		p.Add(p.Paint(themes.Bad, p.Glyphs.Alert) + " " + problem)
	}
	for _, n := range b.Needs {
		sign, word, token := panel.AgentCondition(look, n.Condition())
		switch {
		case n.State == city.Quarantined:
		case word == string(n.State):
			word = n.State.Is()
		default:
			word = "is " + word
		}
		p.Add(p.Paint(token, sign) + " " + n.DisplayName + " " + word + " " +
			widget.Lasted(n.State, now.Sub(n.Since)) + ": " + n.Why)
	}
	return p.Lines
}
