package tui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// fleetActions lead to other cities, and are those of the room of all cities.
func fleetActions() []action {
	f := []keymap.Zone{keymap.InFleet}
	move := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.stepFleet(n); return nil }
	}
	return []action{
		{ID: "city.switch", Key: keymap.Bind("switch city: choose one, or back to all of them",
			"@"), In: []keymap.Zone{keymap.Everywhere}, Run: (*model).switchCity},
		{ID: "fleet.show", Key: keymap.Bind("show all cities, side by side"),
			In: []keymap.Zone{keymap.Everywhere}, Why: needFleet,
			Run: func(m *model) []effect { return m.leaveFor(travel{}) }},

		{ID: "fleet.open", Key: keymap.Bind("go into the city, or to the agent", "enter", "@"),
			Short: "opens", In: f, Why: needCityRow, Run: (*model).enterCity},
		{ID: "fleet.next", Key: keymap.Bind("go to the agents that need you, or back to the cities",
			"tab", "shift+tab"), Short: "agents", In: f, Run: (*model).turnFleet},
		{ID: "fleet.suspend", Key: keymap.Bind("suspend the whole city, or resume it", "s"),
			Short: "suspend", In: f, Risk: keymap.Confirmed, Why: needLoop,
			Run: (*model).suspendCity},
		{ID: "fleet.reload", Key: keymap.Bind("read the city's configuration now", "R"), In: f,
			Why: needLoop, Run: (*model).reloadCity},
		{ID: "fleet.details", Key: keymap.Bind("show the city: why it is so, its problems in full",
			"d"), Short: "details", In: f, Why: needCityRow, Run: (*model).showSister},
		{ID: "fleet.register",
			Key: keymap.Bind(
				"register a city's folder and have it run; once more where it does not", "a"),
			Short: "add", In: f, Why: needRegistrar, Run: (*model).askRegister},
		{ID: "fleet.unregister",
			Key: keymap.Bind("stop the city with all its agents, and forget it", "ctrl+k"), In: f,
			Risk: keymap.Typed, Why: needRegistered, Run: (*model).askUnregister},
		{ID: "fleet.filter",
			Key:   keymap.Bind("filter: words that all must match; !not ~fuzzy state: name:", "/"),
			Short: "filter", In: f, Run: (*model).filterCities},
		{ID: "fleet.messages", Key: keymap.Bind("messages: what the status line said", "m"), In: f,
			Run: (*model).showMessages},
		{ID: "fleet.mouse",
			Key: keymap.Bind("let the mouse click and scroll here, or select text again", "M"),
			In:  f, Run: (*model).toggleMouse},
		{ID: "fleet.redraw", Key: keymap.Bind("draw the screen anew", "ctrl+l"), In: f,
			Run: func(*model) []effect { return []effect{redraw{}} }},
		{ID: "fleet.verbs", Key: keymap.Bind("find one of these and run it", "?", ":", "x",
			"ctrl+p"), Short: "help", In: f, Run: (*model).fleetMenu},
		{ID: "fleet.quit", Key: keymap.Bind("leave; all cities go on", "q", "ctrl+c"),
			Short: "quit", In: f, Risk: keymap.Confirmed, Run: (*model).askQuit},
		{ID: "fleet.down", Key: keymap.Bind("down", "j", "down"), In: f, Run: move(1)},
		{ID: "fleet.up", Key: keymap.Bind("up", "k", "up"), In: f, Run: move(-1)},
		{ID: "fleet.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d"), In: f,
			Run: move(10)},
		{ID: "fleet.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"), In: f,
			Run: move(-10)},
		{ID: "fleet.first", Key: keymap.Bind("to the first", "g", "home"), In: f,
			Run: move(-widget.Far)},
		{ID: "fleet.last", Key: keymap.Bind("to the last", "G", "end"), In: f,
			Run: move(widget.Far)},
		{ID: "fleet.back",
			Key: keymap.Bind("one step back, also to the city that one came from; never leaves",
				"esc"), In: f, Run: (*model).backInFleet},
	}
}

func (m *model) stepFleet(n int) {
	if m.onNeeds {
		m.moveNeeds(n)
		return
	}
	m.cities.Move(n)
}

// turnFleet goes from the cities to the agents, and back.
func (m *model) turnFleet() []effect {
	m.onNeeds = !m.onNeeds && len(m.allNeeds()) > 0
	m.moveNeeds(0)
	return nil
}

// sister is the city that is selected, or whose agent is; nil if there is none.
func (m *model) sister() *sister {
	if !m.onNeeds {
		return m.cities.Current()
	}
	if all := m.allNeeds(); m.needAt < len(all) {
		return all[m.needAt].city
	}
	return nil
}

func needCityRow(m *model) string {
	if m.sister() == nil {
		return "no city is selected"
	}
	return ""
}

// needCityItself is why a verb about a whole city is not for what is under the cursor.
func needCityItself(m *model) string {
	if m.onNeeds {
		return "it is about a whole city, and the cursor is " +
			"on an agent; " + m.keys.KeyOf("fleet.next") + " goes to the cities, " +
			m.keys.KeyOf("fleet.open") + " to the agent"
	}
	return needCityRow(m)
}

// needLoop is why nothing can be told to the city.
func needLoop(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	if why := needCityItself(m); why != "" {
		return why
	}
	if c := m.sister(); !c.info.Running {
		return c.shown + " does not run: it is " + string(c.info.Status)
	}
	return ""
}

func needRegistrar(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	if !m.registrar {
		return "this list cannot be changed from here; `gcity register` does"
	}
	return ""
}

func needRegistered(m *model) string {
	if why := needRegistrar(m); why != "" {
		return why
	}
	return needCityItself(m)
}

func (m *model) enterCity() []effect {
	c, agent := m.sister(), ""
	if m.onNeeds {
		agent = m.needOf[1]
	}
	return m.visitCity(c.info.Name, c.info.Path, agent)
}

// steering is a command for a city of the list. It goes to the one that was looked at, or to none: another one may
// have got the name meanwhile.
type steering struct {
	name, path string
	command    city.Command
}

// steer carries an order out; enroll and dismiss change the list. Each answers with a result.
type (
	steer struct {
		id    int // of the status line that waits for it
		title string
		order steering
	}
	enroll struct {
		id   int
		path string
	}
	dismiss struct {
		id         int
		name, path string
	}
)

func (steer) effect()   {}
func (enroll) effect()  {}
func (dismiss) effect() {}

// toCity sends a command to a city of the list.
func (m *model) toCity(doing string, c *sister, command city.Command) []effect {
	return []effect{steer{id: m.begin(doing + " " + c.shown + " " + m.look.Glyphs.More),
		title: doing,
		order: steering{c.info.Name, c.info.Path, command}}}
}

func (m *model) suspendCity() []effect {
	c := *m.sister()
	if c.brief.suspended {
		return m.perhaps(question{title: "Resume " + c.shown + "?", verb: "resume",
			do: func(m *model) []effect { return m.toCity("resuming", &c, city.Resume{}) }})
	}
	m.ask(question{title: "Suspend " + c.shown + "?", verb: "suspend", count: c.brief.running,
		body: []string{fmt.Sprintf("%s there. All sessions end, and none begins until the city "+
			"is resumed.", areRunning(c.brief.running))},
		do: func(m *model) []effect { return m.toCity("suspending", &c, city.Suspend{}) }})
	return nil
}

func (m *model) reloadCity() []effect {
	return m.toCity("reading the configuration of", m.sister(), city.Reload{})
}

// askRegister asks for a folder; where a city is selected that does not run, it is that one's: registered anew it
// is run.
func (m *model) askRegister() []effect {
	text := widget.NewEntry("")
	if c := m.sister(); c != nil && !c.info.Running {
		text = widget.NewReplacedEntry(c.info.Path)
	}
	m.dialogs.Open(&prompt{Label: "register the city in the folder",
		Hint: m.keys.KeyOf("prompt.done") + " registers", Edit: text,
		Refuse: func(text string) string {
			if !filepath.IsAbs(text) {
				return "the whole path, from /"
			}
			return ""
		},
		Done: func(text string) task {
			return func(m *model) []effect {
				return []effect{enroll{id: m.begin("registering " + text + " " +
					m.look.Glyphs.More), path: filepath.Clean(text)}}
			}
		}})
	return nil
}

func (m *model) askUnregister() []effect {
	c := *m.sister()
	body := []string{fmt.Sprintf("%s in %s.", areRunning(c.brief.running),
		widget.Plain(c.info.Path)),
		"They are stopped, and the supervisor forgets the city; its files stay."}
	if m.homeAt != "" && c.info.Path == m.homeAt && m.hosts {
		body = append(body, "This program runs that city.")
	}
	m.dialogs.Open(&choice{Title: "Stop and forget " + c.shown, Body: body, Must: c.shown,
		Edit: widget.NewEntry(""), Since: m.now,
		Answers: []answer{
			{Title: "stop it and forget it", Do: func(m *model) []effect {
				return []effect{dismiss{m.begin("stopping " + c.shown + " " + m.look.Glyphs.More),
					c.info.Name, c.info.Path}}
			}},
			{Title: "cancel", Safe: true},
		}})
	return nil
}

// filterCities edits the filter of the list; every keystroke shows what it would leave.
func (m *model) filterCities() []effect {
	m.onNeeds = false
	apply := func(text string) {
		m.cityFilter = widget.ParseFilter(text)
		m.listCities()
	}
	m.dialogs.Open(&prompt{Edit: widget.NewReplacedEntry(m.cityFilter.Text), Label: "filter",
		Hint: "!not  ~fuzzy  state: name:  " + m.keys.KeyOf("prompt.done") + " keeps  " +
			m.keys.KeyOf("prompt.cancel") + " clears",
		Change: apply,
		Done: func(text string) task {
			return func(m *model) []effect { apply(text); return nil }
		},
		Cancel: func() { apply("") },
	})
	return nil
}

// fleetMenu offers all that can be done here.
func (m *model) fleetMenu() []effect {
	f := &finder{Title: "All cities", None: "No action is called that.", Reasons: true}
	for _, a := range m.keys.In(keymap.InFleet) {
		if a.ID != "fleet.verbs" && !m.unseen(a) {
			t := actionItem(m, a)
			t.Tail = a.Risk.String()
			f.All = append(f.All, t)
		}
	}
	for i := range m.keys.Actions {
		if a := &m.keys.Actions[i]; strings.HasPrefix(a.ID, themeID) {
			f.All = append(f.All, actionItem(m, a))
		}
	}
	m.open(f)
	return nil
}

func (m *model) backInFleet() []effect {
	switch {
	case m.status.failed:
		m.status = status{}
	case m.onNeeds:
		m.onNeeds = false
	case m.cityFilter.Active():
		m.cityFilter = widget.Filter{}
		m.listCities()
	case !m.all:
		return m.leaveFor(m.from)
	}
	return nil
}

// showSister is all that is known of a city without going there.
func (m *model) showSister() []effect {
	name := m.sister().info.Name
	m.read(&reader{Title: m.sister().shown,
		Lines: func(w int) []string { return widget.WrapAll(m.sisterLines(name), w) }})
	return nil
}

func (m *model) sisterLines(name string) []string {
	c := m.fleet.find(name)
	if c == nil {
		return []string{widget.Plain(name) + " is not registered any more."}
	}
	h, b := cityHealth(&m.look, c), &c.brief
	lines := []string{m.look.Paint(h.token, h.sign+" "+h.word) + " " + c.why(m.now), "",
		m.look.Field("folder", widget.Plain(c.info.Path))}
	if !c.info.Since.IsZero() {
		lines = append(lines, m.look.Field("since", widget.Clock(c.info.Since, m.now)))
	}
	if c.info.Crashes > 0 {
		lines = append(lines, m.look.Field("crashes",
			fmt.Sprintf("%d of its loop", c.info.Crashes)))
	}
	if c.info.Left > 0 {
		lines = append(lines, m.look.Field("left",
			widget.Count(c.info.Left, "session")+
				" of an earlier run; `gcity stop` in its folder ends what is left"))
	}
	if c.known {
		last := ""
		if !c.heard.IsZero() {
			last = ", as of " + widget.Age(m.now.Sub(c.heard)) + " ago"
		}
		lines = append(lines, m.look.Field("agents",
			fmt.Sprintf("%d of %d run%s", b.running, b.agents, last)),
			m.look.Field("work", fmt.Sprintf("%d open, %d in progress", b.open, b.begun)),
			m.look.Field("mail", fmt.Sprintf("%d unread", b.unread)))
	}
	if len(b.problems)+len(b.needs) > 0 {
		lines = append(lines, "", m.look.Paint(themes.Title, "What is wrong"))
	}
	for _, p := range b.problems {
		lines = append(lines, m.look.Paint(themes.Bad, m.look.Glyphs.Alert)+" "+p)
	}
	for _, n := range b.needs {
		sign, word, token := panel.AgentCondition(&m.look, n.state, n.stuck)
		if word == string(n.state) {
			word = panel.InState(n.state)
		}
		lines = append(lines, m.look.Paint(token, sign)+" "+n.shown+" is "+word+" for "+
			widget.Age(m.now.Sub(n.since))+": "+n.why)
	}
	return lines
}

// steer carries an order out, unless the name is another city's by now.
func (r *runner) steer(e steer) {
	r.toDirectory(e.id, e.title, func(ctx context.Context, d city.Directory) (string, error) {
		if err := r.same(ctx, d, e.order.name, e.order.path); err != nil {
			return "", err
		}
		c, err := r.top().tour.cityIn(e.order.name, e.order.path)
		if err != nil {
			return "", err
		}
		receipt, err := c.Do(ctx, e.order.command)
		return e.order.name + ": " + receipt.Message, err
	})
}

func (r *runner) enroll(e enroll) {
	r.toDirectory(e.id, "registering", func(ctx context.Context, d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New("this list cannot be changed from here")
		}
		in, err := reg.Register(ctx, e.path)
		return in.Name + " is registered", err
	})
}

func (r *runner) dismiss(e dismiss) {
	r.toDirectory(e.id, "stopping", func(ctx context.Context, d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New("this list cannot be changed from here")
		}
		if err := r.same(ctx, d, e.name, e.path); err != nil {
			return "", err
		}
		receipt, err := reg.Unregister(ctx, e.name)
		return receipt.Message, err
	})
}

// same is an error where a name is not that of the city in a folder any more.
func (r *runner) same(ctx context.Context, d city.Directory, name, path string) error {
	all, err := d.Cities(ctx)
	if err != nil {
		return err
	}
	for _, in := range all {
		if in.Name == name && in.Path == path {
			return nil
		}
	}
	return fmt.Errorf("nothing is done: %s is not the city in %s any more", name, path)
}

// toDirectory does something with the list of the cities, and puts how it ended into the mailbox.
func (r *runner) toDirectory(id int, title string,
	do func(ctx context.Context, d city.Directory) (string, error)) {
	r.spawn("fleet", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, commandDeadline)
		defer cancel()
		res := result{id: id, title: title, total: 1}
		said, err := do(ctx, r.top().tour.o.Cities)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			res.failures = []string{fmt.Sprintf("%s: no answer within %s; it may still happen",
				title, commandDeadline)}
		case err != nil:
			r.log.Warn("a command to the cities failed", "title", title, "error", err)
			res.failures = []string{err.Error()}
		default:
			res.receipts = []string{said}
		}
		r.box.putResult(res)
	})
}
