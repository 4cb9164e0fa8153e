package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/internal/colour"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// fleet is what is known of the cities of a machine. It is never changed once it is handed out.
type fleet struct {
	rows []sister // in the order of their names
	gone string   // why the list of them cannot be read, "" = it can
	none bool     // nobody keeps one, and nobody has since the room was opened
}

// sister is a registered city, as far as it is known.
type sister struct {
	info  city.Info
	shown string
	brief brief
	// of the newest answer, where there is none now; zero = it answers, or never has
	heard time.Time
	known bool   // it has answered once
	mute  string // why it does not answer though it runs, "" = it does
}

// brief is what of a city is worth knowing while one is not in it.
type brief struct {
	agents, running int
	failed, held    int // agents that cannot be started, agents in quarantine
	open, begun     int // work
	unread          int // mail for people
	suspended       bool
	colour          string        // the city's own, "" = it has none
	late            time.Duration // the loop's age, where that is too high; 0 = it turns
	problems        []string
	needs           []need
}

// need is an agent that waits for a person.
type need struct {
	agent string // as the city knows it
	shown string
	state city.State
	why   string
	stuck bool
	since time.Time
	until time.Time // zero = none
}

// maxNeeds bounds the agents of one city that are listed, and its problems.
const maxNeeds = 50

// briefOf reads a snapshot that was heard at a time.
func briefOf(s *city.Snapshot, now time.Time) brief {
	b := brief{agents: len(s.Agents), open: s.Work.Open, begun: s.Work.InProgress,
		unread: max(0, s.Mail.Unread), suspended: s.Suspended}
	if own, err := colour.Parse(s.Console.Colour); err == nil {
		b.colour = own
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		switch a.State {
		case city.Failed:
			b.failed++
		case city.Quarantined:
			b.held++
		}
		if a.Running {
			b.running++
		}
		if len(b.needs) < maxNeeds {
			if n, ok := needOf(a, s.Watchdogs, now); ok {
				b.needs = append(b.needs, n)
			}
		}
	}
	slices.SortStableFunc(b.needs, func(x, y need) int {
		return x.state.Urgency() - y.state.Urgency()
	})
	if turn := s.Patrol.Age(now); !s.Patrol.Last.IsZero() &&
		turn > 3*s.Patrol.Interval+5*time.Second {
		b.late = turn.Truncate(time.Second)
	}
	b.problems = Troubles(s)
	return b
}

// needOf reports whether an agent waits for a person, and why: not who will be tried again by itself soon.
func needOf(a *city.Agent, watched []city.Watchdog, now time.Time) (need, bool) {
	r := panel.NewAgentRow(a)
	for i := range watched {
		if w := &watched[i]; w.Watches == a.Name && w.Calls() {
			r.Heed(w)
		}
	}
	n := need{agent: r.Name, shown: r.Shown, state: r.State, why: r.Why, stuck: r.Stuck != nil,
		since: r.Since, until: r.Until}
	switch {
	case r.Called:
		return n, true
	case a.Stuck != nil:
		n.why, n.since = "its output has stood still, with work: "+widget.Plain(a.Stuck.Task),
			a.Stuck.Since
		return n, true
	case r.State == city.Backoff || r.Drifted && !r.Frozen && r.State == city.Running:
		return n, false
	}
	return n, r.Attention(now)
}

// Troubles are what is wrong with a city as a whole, the worst first, each a safe line.
func Troubles(s *city.Snapshot) []string {
	var p []string
	if s.ShutDown {
		p = append(p, "it is shutting down")
	}
	if s.Config.Rejected != "" {
		p = append(p, "config refused: "+s.Config.Rejected)
	}
	if h := s.Config.Held; h != nil {
		p = append(p, "configuration held: "+removes(h))
	}
	for i := range s.Watchdogs {
		switch w := &s.Watchdogs[i]; {
		case w.Calls():
			p = append(p, panel.CallLine(w, ""))
		case w.Degraded != "" && !w.Suspended:
			p = append(p, "watchdog "+w.Name+" is degraded: "+w.Degraded)
		}
	}
	failing := 0
	for i := range s.Automations {
		if a := &s.Automations[i]; a.State == city.AutomationBroken || a.Failures > 0 {
			failing++
		}
	}
	if failing > 0 {
		p = append(p, widget.Count(failing, "automation")+" failing or broken")
	}
	p = append(append(p, s.Degraded...), s.StrandedLines()...)
	p = p[:min(len(p), maxNeeds)]
	for i := range p {
		p[i] = strings.Join(widget.PlainLines(p[i]), " ")
	}
	return p
}

func (c *sister) Key() string { return c.info.Name }

// health is how a city is, in a word: its sign, its token, and how urgent it is, 0 the most.
type health struct {
	word, sign string
	token      themes.Token
	rank       int
}

func cityHealth(l *widget.Styles, c *sister) health {
	g := &l.Glyphs
	switch c.info.Status {
	case city.CityCrashed:
		return health{"crashed", g.Failed, themes.Bad, 0}
	case city.CityRefused:
		return health{"refused", g.Failed, themes.Bad, 1}
	case city.CityStarting:
		return health{"starting", g.Starting, themes.Busy, 6}
	case city.CityStopping:
		return health{"stopping", g.Leaving, themes.Busy, 6}
	case city.CityStopped:
		return health{"stopped", g.Exited, themes.Off, 9}
	}
	switch b := &c.brief; {
	case c.mute != "":
		return health{"silent", g.Alert, themes.Bad, 2}
	case b.late > 0:
		return health{"stalled", g.Alert, themes.Bad, 3}
	case len(b.problems) > 0 || len(b.needs) > 0:
		return health{"trouble", g.Alert, themes.Warn, 4}
	case b.suspended || c.info.Status == city.CityPaused:
		return health{"suspended", g.Suspended, themes.Off, 8}
	case !c.known:
		return health{"joining", g.Waiting, themes.Busy, 5}
	}
	return health{"running", g.Running, themes.Good, 7}
}

// why says what is wrong with a city, or why it does not run; "" = nothing is.
func (c *sister) why(now time.Time) string {
	b := &c.brief
	switch {
	case c.info.Error != "" && !c.info.Running:
		text := strings.Join(widget.PlainLines(c.info.Error), " ")
		if u := c.info.Until; u != nil && u.After(now) {
			text = "again in " + widget.Remaining(u.Sub(now)) + ": " + text
		}
		return text
	case !c.info.Running && c.info.Status == city.CityStopped:
		return "nobody runs it"
	case c.mute != "" && c.known:
		return "last heard " + widget.Age(now.Sub(c.heard)) + " ago: " + widget.Plain(c.mute)
	case c.mute != "":
		return widget.Plain(c.mute)
	case b.late > 0:
		return "its loop has not turned for " + widget.Age(b.late)
	}
	var parts []string
	for _, n := range []struct {
		n    int
		what string
	}{{b.failed, "failed"}, {b.held, "quarantined"},
		{len(b.needs) - b.failed - b.held, "more to look at"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if c.info.Error != "" {
		parts = append(parts, widget.Plain(c.info.Error))
	}
	return strings.Join(append(parts, b.problems...), "; ")
}

// wants is how much in a city waits for a person.
func (c *sister) wants() int {
	n := 0
	switch {
	case c.info.Status == city.CityCrashed || c.info.Status == city.CityRefused:
		return 1
	case !c.info.Running:
		return 0
	case c.mute != "" || c.brief.late > 0:
		n = 1
	}
	return n + len(c.brief.needs)
}

// find is the row of a city by its name, nil if there is none.
func (f *fleet) find(name string) *sister {
	if f == nil {
		return nil
	}
	for i := range f.rows {
		if f.rows[i].info.Name == name {
			return &f.rows[i]
		}
	}
	return nil
}

// within is the name of the city in a folder, "" = none that is registered.
func (f *fleet) within(path string) string {
	if f == nil || path == "" {
		return ""
	}
	for i := range f.rows {
		if f.rows[i].info.Path == path {
			return f.rows[i].info.Name
		}
	}
	return ""
}

// elsewhere counts what waits for a person in other cities than one.
func (f *fleet) elsewhere(name string) int {
	if f == nil {
		return 0
	}
	n := 0
	for i := range f.rows {
		if f.rows[i].info.Name != name {
			n += f.rows[i].wants()
		}
	}
	return n
}

// ranked orders cities: what needs a person first, then by name.
func (m *model) ranked(a, b *sister) int {
	return cmp.Or(cityHealth(&m.look, a).rank-cityHealth(&m.look, b).rank,
		city.CompareNames(a.info.Name, b.info.Name))
}

// fleetNeed is an agent that waits for a person, with its city.
type fleetNeed struct {
	city *sister
	need *need
}

// allNeeds are the agents of all cities that wait for a person, in the order of the cities.
func (m *model) allNeeds() []fleetNeed {
	var all []fleetNeed
	for i := range m.cities.Rows {
		c := &m.cities.Rows[i]
		if !c.info.Running {
			continue
		}
		for k := range c.brief.needs {
			all = append(all, fleetNeed{c, &c.brief.needs[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b fleetNeed) int {
		return a.need.state.Urgency() - b.need.state.Urgency()
	})
	return all
}

// passes reports whether a city's row passes a filter: state: and name: are about the city.
func (c *sister) passes(f *widget.Filter, h health, why string) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(h.word, t.Word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(c.info.Name), t.Word)
		case "":
			hit = t.In(c.shown) || !t.Fuzzy &&
				(t.In(h.word) || t.In(why) || t.In(widget.Plain(c.info.Path)))
		}
		return hit
	})
}
