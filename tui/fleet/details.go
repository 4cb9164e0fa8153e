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
	h, b := HealthOf(look, c), &c.Summary
	lines := []string{look.Paint(h.Token, h.Sign+" "+h.Word) + " " + c.Why(now), "",
		look.Field("folder", widget.Plain(c.Info.Path))}
	// when this city was listed, another one already had its name
	if own := c.Summary.Name; own != "" && own != c.Info.Name && !c.Unregistered {
		lines = append(lines, look.Field("listed as", widget.Plain(c.Info.Name)))
	}
	if c.Info.Running && runner != "" {
		lines = append(lines, look.Field("run by", runner))
	}
	if !c.Info.Since.IsZero() {
		lines = append(lines, look.Field("since", widget.Clock(c.Info.Since, now)))
	}
	if c.Info.Crashes > 0 {
		lines = append(lines, look.Field("crashes",
			"the controller crashed "+widget.Times(c.Info.Crashes)))
	}
	if c.Info.LeftoverSessions > 0 {
		lines = append(lines, look.Field("left",
			widget.Count(c.Info.LeftoverSessions, "session")+
				" from an earlier run; `gcity stop` in the city's folder stops them"))
	}
	if c.Responded {
		last := ""
		if !c.LastResponse.IsZero() {
			last = ", as of " + widget.Age(now.Sub(c.LastResponse)) + " ago"
		}
		lines = append(lines, look.Field("agents",
			fmt.Sprintf("%d of %d running%s", b.Running, b.Agents, last)),
			look.Field("work", describe.Work(b.Open, b.InProgress)),
			look.Field("mail", fmt.Sprintf("%d unread", b.Unread)))
	}
	if len(b.Problems)+len(b.Needs) > 0 {
		lines = append(lines, "", look.Paint(themes.Title, "Problems"))
	}
	for _, p := range b.Problems {
		lines = append(lines, look.Paint(themes.Bad, look.Glyphs.Alert)+" "+p)
	}
	for _, n := range b.Needs {
		sign, word, token := panel.AgentCondition(look, n.State, n.Stuck)
		if word == string(n.State) {
			word = n.State.Is()
		}
		if n.State != city.Quarantined {
			word = "is " + word
		}
		lines = append(lines, look.Paint(token, sign)+" "+n.DisplayName+" "+word+" "+
			widget.Lasted(n.State, now.Sub(n.Since))+": "+n.Why)
	}
	return lines
}
