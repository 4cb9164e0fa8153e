package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/internal/color"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// List contains the known cities on a machine. It does not change after it has been published.
type List struct {
	Rows         []City // sorted by name
	Problem      string
	Unmaintained bool // no supervisor is running
}

// City is a registered or recently opened city with its last known state.
type City struct {
	Info        city.Info
	DisplayName string
	// the part of the path that distinguishes the city from others of the same name; "" = the name is unique
	Folder  string
	Summary Summary
	// when it last responded; zero = it responds now, or never has
	LastResponse time.Time
	Responded    bool
	Unresponsive string
	Unregistered bool
}

// UnregisteredCity returns the row of a city that is not registered. s may be nil.
func UnregisteredCity(name, path string, s *city.Snapshot,
	receivedAt, lastResponse time.Time) *City {
	c := &City{Info: city.Info{Name: name, Path: path, Running: true, Status: city.CityRunning},
		DisplayName: widget.Plain(name), LastResponse: lastResponse, Unregistered: true}
	if s != nil {
		c.Responded, c.Summary = true, Summarize(s, receivedAt)
	}
	return c
}

// Summary is a city's state in the list of cities.
type Summary struct {
	Name             string // in the city's configuration
	Agents, Running  int
	failed, Held     int // Held counts agents in quarantine
	Open, InProgress int
	Unread           int // mail for users
	Suspended        bool
	Stopping         bool
	Mode             string // as in city.Snapshot; "" = unknown
	PID              int    // of the controller; 0 = unknown
	Color            string
	Overdue          time.Duration // age of the last patrol; 0 = not overdue
	Problems         []string
	Needs            []Need
}

// Need is an agent that needs attention.
type Need struct {
	Agent       string // not sanitized
	DisplayName string
	State       city.State
	Blocker     city.Blocker
	Why         string
	Since       time.Time
	Until       time.Time // when its state ends; zero = not known
}

// Condition returns State or a state of package describe.
func (n *Need) Condition() city.State { return describe.AlertState(n.State, &n.Blocker) }

// limits the agents and the problems listed for one city
const maxNeeds = 50

// Summarize returns a summary of a snapshot that was received at now.
func Summarize(s *city.Snapshot, now time.Time) Summary {
	b := Summary{Name: s.Name, Agents: len(s.Agents), Open: s.Work.Open,
		InProgress: s.Work.InProgress,
		Unread:     max(0, s.Mail.Unread), Suspended: s.Suspended, Stopping: s.ShutDown,
		Mode: s.Mode, PID: s.PID}
	if own, err := color.Parse(s.Console.Color); err == nil {
		b.Color = own
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		switch a.State {
		case city.Failed:
			b.failed++
		case city.Quarantined:
			b.Held++
		}
		if a.State == city.Running {
			b.Running++
		}
		if len(b.Needs) < maxNeeds && !s.ShutDown {
			if n, ok := needOf(a, s.Watchdogs, now); ok {
				b.Needs = append(b.Needs, n)
			}
		}
	}
	slices.SortStableFunc(b.Needs, func(x, y Need) int {
		return x.State.Urgency() - y.State.Urgency()
	})
	if turn := s.Patrol.Age(now); !s.Patrol.Last.IsZero() &&
		turn > 3*s.Patrol.Interval+5*time.Second {
		b.Overdue = turn.Truncate(time.Second)
	}
	if !s.ShutDown {
		b.Problems = Troubles(s)
	}
	return b
}

// Runner says which process runs the city, or returns "" if that is unknown.
func (b *Summary) Runner() string { return widget.Plain(describe.Runner(b.Mode, b.PID)) }

func needOf(a *city.Agent, watched []city.Watchdog, now time.Time) (Need, bool) {
	r := panel.NewAgentRow(a)
	for i := range watched {
		if w := &watched[i]; w.Watches == a.Name && w.IsEscalated() {
			r.AddCall(w)
		}
	}
	n := Need{Agent: r.Name, DisplayName: r.Shown, State: r.State, Blocker: a.Blocker,
		Why: r.Why, Since: r.Since, Until: r.Until}
	switch {
	case r.HasCall:
		return n, true
	case n.Condition() == describe.Asking:
		n.Since = a.Asks.Since
		return n, true
	case a.Stuck != nil:
		n.Why, n.Since = "no output although it has work: "+widget.Plain(a.Stuck.Task),
			a.Stuck.Since
		return n, true
	case r.State == city.Backoff || len(a.Drift) > 0 && !r.Frozen && r.State == city.Running:
		return n, false
	}
	return n, r.Attention(now)
}

// Troubles returns the problems with a city as a whole, most severe first, each as one sanitized line.
func Troubles(s *city.Snapshot) []string {
	var p []string
	switch {
	case s.Config.Trust != "":
		p = append(p, "changes wait for your trust: "+s.Config.Rejected)
	case s.Config.Rejected != "":
		p = append(p, "configuration rejected: "+s.Config.Rejected)
	}
	if h := s.Config.Held; h != nil {
		p = append(p, "configuration held: "+HeldText(h))
	}
	for i := range s.Watchdogs {
		switch w := &s.Watchdogs[i]; {
		case w.IsEscalated():
			p = append(p, panel.CallLine(w))
		case w.Degraded != "" && !w.Suspended:
			p = append(p, "watchdog "+w.Name+" is degraded: "+w.Degraded)
		}
	}
	failing, broken := 0, 0
	for i := range s.Automations {
		switch a := &s.Automations[i]; {
		case a.State == city.AutomationBroken:
			broken++
		case a.Failures > 0:
			failing++
		}
	}
	if text := panel.FailingText(failing, broken); text != "" {
		p = append(p, text)
	}
	p = append(append(p, s.Degraded...), s.StrandedLines()...)
	p = p[:min(len(p), maxNeeds)]
	for i := range p {
		p[i] = strings.Join(widget.PlainLines(p[i]), " ")
	}
	return p
}

func (c *City) Key() string {
	if c.Unregistered {
		return c.Info.Path // a registered city might have the same name
	}
	return c.Info.Name
}

// Rank 0 is the most urgent.
type health struct {
	Word, Sign string
	Token      themes.Token
	Rank       int
}

func HealthOf(l *widget.Styles, c *City) health {
	g := &l.Glyphs
	switch c.Info.Status {
	case city.CityCrashed:
		return health{"crashed", g.Failed, themes.Bad, 0}
	case city.CityRefused:
		return health{"refused", g.Refused, themes.Bad, 1}
	case city.CityStarting:
		return health{"starting", g.Starting, themes.Busy, 6}
	case city.CityStopped:
		return health{"stopped", g.Exited, themes.Off, 9}
	}
	switch b := &c.Summary; {
	case c.stopping():
		return health{"stopping", g.Stopping, themes.Busy, 6}
	case c.Unresponsive != "":
		return health{"silent", g.Silent, themes.Bad, 2}
	case b.Overdue > 0:
		return health{"stalled", g.Stalled, themes.Bad, 3}
	case c.suspended(): // its other problems can wait until it is resumed
		return health{"suspended", g.Suspended, themes.Warn, 8}
	case len(b.Problems) > 0 || len(b.Needs) > 0:
		return health{"trouble", g.Alert, themes.Warn, 4}
	case !c.Responded:
		return health{"joining", g.Waiting, themes.Busy, 5}
	}
	return health{"running", g.Running, themes.Good, 7}
}

// for a moment, the list and the snapshot of the city can differ
func (c *City) suspended() bool {
	return c.Summary.Suspended || c.Info.Status == city.CitySuspended
}

// the controller of a stopping city exits shortly before the list shows the city as stopped
func (c *City) stopping() bool {
	return c.Info.Status == city.CityStopping ||
		c.Info.Running && c.Info.Error == "" && c.Summary.Stopping
}

// IsStopped reports whether the city is stopped and has no error.
func (c *City) IsStopped() bool {
	return !c.Info.Running && c.Info.Status == city.CityStopped && c.Info.Error == ""
}

// Why returns what is wrong with a city or why it is not running, or "".
func (c *City) Why(now time.Time) string {
	b := &c.Summary
	switch {
	case c.Info.Error != "" && !c.Info.Running:
		text := strings.Join(widget.PlainLines(c.Info.Error), " ")
		if u := c.Info.Until; u != nil && u.After(now) {
			text = "retries in " + widget.Until(*u, now) + ": " + text
		}
		return text
	case !c.Info.Running && c.Info.Status == city.CityStopped:
		if n := c.Info.LeftoverSessions; n > 0 {
			return "no controller; agents still running: " + widget.Number(n)
		}
		return "not running"
	case c.stopping() && c.Info.Error == "":
		return "its agents are stopping"
	case c.Unresponsive != "" && c.Responded:
		return "last response " + widget.Ago(c.LastResponse, now) + ": " +
			widget.Plain(c.Unresponsive)
	case c.Unresponsive != "":
		return widget.Plain(c.Unresponsive)
	case b.Overdue > 0:
		return "the controller's last patrol was " + widget.Age(b.Overdue) + " ago"
	}
	others := max(0, len(b.Needs)-b.failed-b.Held)
	parts := widget.AppendCount(nil, b.failed, "failed")
	parts = widget.AppendCount(parts, b.Held, "quarantined")
	parts = widget.AppendCount(parts, others, otherNeeds(others, b.failed+b.Held))
	if c.Info.Error != "" {
		parts = append(parts, widget.Plain(c.Info.Error))
	}
	parts = append(parts, b.Problems...)
	if c.Unregistered {
		parts = append(parts, "not registered")
	}
	return strings.Join(parts, "; ")
}

func otherNeeds(n, before int) string {
	switch {
	case before == 0 && n == 1:
		return "agent needs attention"
	case before == 0:
		return "agents need attention"
	case n == 1:
		return "other needs attention"
	}
	return "others need attention"
}

// AttentionCount returns the number of agents that need attention, plus 1 if the city itself does. The city's Problems
// count only if no agent needs attention.
func (c *City) AttentionCount() int {
	b, n := &c.Summary, 0
	switch {
	case c.Info.Status == city.CityCrashed || c.Info.Status == city.CityRefused:
		return 1
	case !c.Info.Running || c.stopping():
		return 0
	case c.Unresponsive != "" || b.Overdue > 0:
		n = 1
	case c.suspended(): // its problems can wait until it is resumed
		return 0
	case len(b.Needs) == 0 && len(b.Problems) > 0:
		n = 1
	}
	return n + len(b.Needs)
}

// Find returns the row of the city with the given name, or nil.
func (f *List) Find(name string) *City {
	if f == nil {
		return nil
	}
	return widget.First(f.Rows, func(c *City) bool { return c.Info.Name == name })
}

// HasOther reports whether the list contains a city in a different folder.
func (f *List) HasOther(folder string) bool {
	return slices.ContainsFunc(f.Rows, func(c City) bool { return c.Info.Path != folder })
}

// NameOf returns the name of the registered city in the given folder, or "".
func (f *List) NameOf(path string) string {
	if f == nil || path == "" {
		return ""
	}
	if c := widget.First(f.Rows, func(c *City) bool { return c.Info.Path == path }); c != nil {
		return c.Info.Name
	}
	return ""
}

// TroubledElsewhere returns the number of other cities that need attention.
func (f *List) TroubledElsewhere(name string) int {
	if f == nil {
		return 0
	}
	n := 0
	for i := range f.Rows {
		if f.Rows[i].Info.Name != name && f.Rows[i].AttentionCount() > 0 {
			n++
		}
	}
	return n
}

// Matches reports whether a city's row matches a filter.
func (c *City) Matches(f *widget.Filter, h health, why string) bool {
	return f.Matches(func(t *widget.Term) bool {
		switch t.Field {
		case "state":
			return t.Begins(h.Word)
		case "name":
			return t.Begins(c.Info.Name) || t.Begins(c.DisplayName)
		case "":
			return t.In(c.DisplayName) || !t.Fuzzy &&
				(t.In(h.Word) || t.In(why) || t.In(widget.Plain(c.Info.Path)))
		}
		return false
	})
}

// HeldText says why a configuration is held: "removes 3 of 4 running agents".
func HeldText(h *city.Held) string {
	return fmt.Sprintf("removes %d of %s", len(h.Removes), widget.Count(h.Running, "running agent"))
}

// Counts returns how many of the city's agents are running, "3/4 up", or "" if unknown or if the city is not running.
func (c *City) Counts() string {
	if !c.Responded || !c.Info.Running {
		return ""
	}
	return fmt.Sprintf("%-9s", fmt.Sprintf("%d/%d up", c.Summary.Running, c.Summary.Agents))
}
