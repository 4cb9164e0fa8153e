package actions

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gcity/city"
	"gcity/describe"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func fleetActions() []state.Action {
	return slices.Concat([]state.Action{
		{ID: "city.switch", Key: keymap.Bind("switch city: choose one, or go back to all cities",
			"@"), Short: "cities", Run: SwitchCity},
		{ID: "fleet.show", Key: keymap.Bind("show all cities in one list"),
			Why: needFleet,
			Run: switching(feed.SwitchCity{})},
	}, in([]state.Action{
		{ID: "fleet.open", Key: keymap.Bind("open the city, or select the agent in its city",
			"enter"),
			Short: "open", Why: needCityRow, Run: enterCity},
		{ID: "fleet.return", Key: keymap.Bind("go back to the city where you opened this list",
			"@"), Short: "back", Run: returnToCity},
		{ID: "fleet.next", Key: keymap.Bind("go to the agents that need attention, or back "+
			"to the cities",
			"tab", "shift+tab"), Short: "agents", Why: needAttention,
			Run: noEffects(switchFleetList)},
		{ID: "fleet.suspend", Key: keymap.Bind("suspend the whole city, or resume it", "s"),
			Short: "suspend", Risk: keymap.Confirmed, Why: needRunningCity,
			Run: suspendCity},
		{ID: "fleet.reload", Key: keymap.Bind("reload the city's configuration now", "R"),
			Why: needRunningCity, Run: reloadCity},
		{ID: "fleet.details", Key: keymap.Bind("show details of the city: why it is in this "+
			"state, all its problems",
			"d"), Short: "details", Why: needCityRow, Run: showOtherCity},
		{ID: "fleet.register",
			Key: keymap.Bind(
				"register the city in a folder and start it; also starts a registered city", "a"),
			Short: "add", Why: needSupervisor, Run: askRegister},
		{ID: "fleet.unregister",
			Key:  keymap.Bind("stop and unregister the city", "ctrl+k"),
			Risk: keymap.NameRequired, Why: needRegistered, Run: askUnregister},
		{ID: "fleet.filter",
			Key:   keymap.Bind("filter: all words must match; !not ~fuzzy state: name:", "/"),
			Short: "filter", Run: filterCities},
		{ID: "fleet.messages", Key: keymap.Bind("messages: show past status lines", "m"),
			Run: showMessages},
		{ID: "fleet.mouse",
			Key: keymap.Bind("switch the mouse between this room and selecting text",
				"M"),
			Run: noEffects(toggleMouse)},
		{ID: "fleet.redraw", Key: keymap.Bind("redraw the screen", "ctrl+l"),
			Run: returning(feed.Redraw{})},
		{ID: "fleet.verbs", Key: keymap.Bind("find one of these actions and run it", "?", ":", "x",
			"ctrl+p"), Short: "help", Run: noEffects(fleetMenu)},
		{ID: "fleet.quit", Key: keymap.Bind("quit; all cities keep running", "q", "ctrl+c"),
			Short: "quit", Run: AskQuit},
	}, keymap.InFleet), fleetMoves())
}

func fleetMoves() []state.Action {
	move := func(n int) state.Task {
		return noEffects(func(m *state.Room) { state.StepFleet(m, n) })
	}
	moves := []state.Action{
		{ID: "fleet.down", Key: keymap.Bind("move down", "j", "down"), Run: move(1)},
		{ID: "fleet.up", Key: keymap.Bind("move up", "k", "up"), Run: move(-1)},
		{ID: "fleet.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d"),
			Run: move(10)},
		{ID: "fleet.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"),
			Run: move(-10)},
		{ID: "fleet.first", Key: keymap.Bind("to the first row", "g", "home"),
			Run: move(-widget.Unlimited)},
		{ID: "fleet.last", Key: keymap.Bind("to the last row", "G", "end"),
			Run: move(widget.Unlimited)},
	}
	markMoves(moves)
	return in(append(moves, state.Action{ID: "fleet.back",
		Key: keymap.Bind("go back one step, or to the previous city; does not quit",
			"esc"), Run: backInFleet}), keymap.InFleet)
}

func needAttention(m *state.Room) string {
	if !m.OnNeeds && len(state.AllNeeds(m)) == 0 {
		return "no agent needs attention"
	}
	return ""
}

func switchFleetList(m *state.Room) {
	m.OnNeeds = !m.OnNeeds && len(state.AllNeeds(m)) > 0
	state.MoveNeeds(m, 0)
}

func needCityRow(m *state.Room) string {
	if state.ChosenCity(m) == nil {
		return "no city is selected"
	}
	return ""
}

func needCityItself(m *state.Room) string {
	if m.OnNeeds {
		return "this applies to a whole city, but the cursor is " +
			"on an agent; " + m.Keys.KeyText("fleet.next") + " goes to the cities, " +
			m.Keys.KeyText("fleet.open") + " to the agent"
	}
	if c := state.ChosenCity(m); c != nil && c.Unregistered {
		return c.DisplayName + " is not registered; " + m.Keys.KeyText("fleet.open") + " opens it"
	}
	return needCityRow(m)
}

func needRunningCity(m *state.Room) string {
	if why := cmp.Or(state.NeedWritable(m), needCityItself(m)); why != "" {
		return why
	}
	if c := state.ChosenCity(m); !c.Info.Running {
		return c.DisplayName + " is not running: it is " + string(c.Info.Status)
	}
	return ""
}

func needRegistrar(m *state.Room) string {
	why := state.NeedWritable(m)
	if why == "" && !m.Registrar {
		return describe.Fixed + "; use `gcity register`"
	}
	return why
}

// needSupervisor returns why no city can be registered at the moment, or "". It is checked before the user types a
// folder.
func needSupervisor(m *state.Room) string {
	why := needRegistrar(m)
	if why == "" && m.Fleet != nil && m.Fleet.Unmaintained {
		return "no supervisor is running; run `gcity supervisor start`, or `gcity start` in the " +
			"city's folder"
	}
	return why
}

func needRegistered(m *state.Room) string {
	if why := cmp.Or(needRegistrar(m), needCityItself(m)); why != "" {
		return why
	}
	if c := state.ChosenCity(m); c.IsStopped() && !m.Fleet.Unmaintained {
		return c.DisplayName + " is stopped and is not registered; " +
			m.Keys.KeyText("fleet.open") + " starts it"
	}
	return ""
}

func enterCity(m *state.Room) []feed.Effect {
	c, agent := state.ChosenCity(m), ""
	if m.OnNeeds {
		agent = m.NeedOf[1]
	}
	return visitRow(m, c, agent)
}

func sendToCity(m *state.Room, doing string, c *fleet.City, command city.Command) []feed.Effect {
	return []feed.Effect{feed.SendCityCommand{ID: state.BeginAction(m,
		doing+" "+c.DisplayName+" "+m.Look.Glyphs.More),
		Title:  doing,
		Target: feed.CityCommand{Name: c.Info.Name, Path: c.Info.Path, Command: command}}}
}

func aboutCity(m *state.Room, c *fleet.City,
	build func(m *state.Room, c *fleet.City) question) builder {
	path := c.Info.Path
	find := func(key string) *fleet.City { return state.FindCity(m, key) }
	return aboutListed(m, []*fleet.City{c}, find,
		func(m *state.Room, rows []*fleet.City) question {
			if rows[0].Info.Path != path {
				return nothingDone(rows[0].DisplayName +
					" is now the name of another city")
			}
			return build(m, rows[0])
		})
}

func suspendCity(m *state.Room) []feed.Effect {
	c := state.ChosenCity(m)
	off := !c.Summary.Suspended
	build := aboutCity(m, c, func(m *state.Room, c *fleet.City) question {
		switch {
		case !c.Info.Running:
			return nothingDone(c.DisplayName + " is not running")
		case off == c.Summary.Suspended:
			return nothingDone(palette.FlaggedAlready(c.DisplayName, off, off))
		case off:
			return suspendCityQuestion(c)
		}
		return question{title: "Resume " + c.DisplayName + "?", verb: "resume",
			do: func(m *state.Room) []feed.Effect {
				return sendToCity(m, "resuming", c, city.Resume{})
			}}
	})
	return askLiveIfWanted(m, build)
}

func suspendCityQuestion(c *fleet.City) question {
	return question{title: "Suspend " + c.DisplayName + "?", verb: "suspend", harms: true,
		count: c.Summary.Running, of: "running agents",
		body: []string{fmt.Sprintf("Running: %d of %s. All sessions will stop, and none will "+
			"start until the city is resumed.", c.Summary.Running,
			widget.Count(c.Summary.Agents, "agent"))},
		do: func(m *state.Room) []feed.Effect {
			return sendToCity(m, "suspending", c, city.Suspend{})
		}}
}

func reloadCity(m *state.Room) []feed.Effect {
	return askLiveIfWanted(m, aboutCity(m, state.ChosenCity(m), func(_ *state.Room,
		c *fleet.City) question {
		return question{title: "Reload the configuration of " + c.DisplayName + "?",
			verb: "reload it", do: func(m *state.Room) []feed.Effect {
				return sendToCity(m, "reloading the configuration of", c, city.Reload{})
			}}
	}))
}

// A stopped city's folder is suggested, because registering it again starts the city.
func askRegister(m *state.Room) []feed.Effect {
	text := widget.NewEntry("")
	if c := state.ChosenCity(m); c != nil && !c.Info.Running {
		text = widget.NewReplacedEntry(c.Info.Path)
	}
	m.Dialogs.Open(&state.Prompt{Label: "register the city in the folder",
		Hint: m.Keys.KeyText("prompt.done") + " registers", Edit: text,
		Validate: func(text string) string {
			if !filepath.IsAbs(text) {
				return "enter an absolute path, starting with /"
			}
			return ""
		},
		Done: func(text string) state.Task {
			return func(m *state.Room) []feed.Effect {
				return askIfWanted(m, question{title: "Register the city in " + text + "?",
					verb: "register it", no: "do not register it",
					do: func(m *state.Room) []feed.Effect {
						return []feed.Effect{feed.RegisterCity{ID: state.BeginAction(m,
							"registering "+text+" "+
								m.Look.Glyphs.More), Path: filepath.Clean(text)}}
					}})
			}
		}})
	return nil
}

func askUnregister(m *state.Room) []feed.Effect {
	return askLive(m, aboutCity(m, state.ChosenCity(m), unregisterQuestion))
}

func unregisterQuestion(m *state.Room, c *fleet.City) question {
	body := []string{fmt.Sprintf("%s running in %s.", areRunning(c.Summary.Running),
		widget.Plain(c.Info.Path)),
		"They will stop, and the city will be unregistered; its files stay."}
	if m.HomeFolder != "" && c.Info.Path == m.HomeFolder && m.HostsHome {
		body = append(body, "This program runs that city.")
	}
	return question{title: "Stop and unregister " + c.DisplayName, body: body, plan: true,
		required: widget.Plain(c.Info.Name), cursor: 1,
		answers: []state.Answer{
			{Title: "stop and unregister it", Do: func(m *state.Room) []feed.Effect {
				return []feed.Effect{feed.UnregisterCity{ID: state.BeginAction(m,
					"stopping "+c.DisplayName+" "+m.Look.Glyphs.More),
					Name: c.Info.Name, Path: c.Info.Path}}
			}},
			{Title: "no, leave it", Safe: true},
		}}
}

func filterCities(m *state.Room) []feed.Effect {
	m.OnNeeds = false
	apply := func(text string) {
		m.CityFilter = widget.ParseFilter(text)
		state.FilterCities(m)
	}
	m.Dialogs.Open(&state.Prompt{Edit: widget.NewReplacedEntry(m.CityFilter.Text), Label: "filter",
		Hint: "!not  ~fuzzy  state: name:  " + m.Keys.KeyText("prompt.done") + " keeps  " +
			m.Keys.KeyText("prompt.cancel") + " clears",
		Change: apply,
		Done: func(text string) state.Task {
			return noEffects(func(m *state.Room) { apply(text) })
		},
		Cancel: func() { apply("") },
	})
	return nil
}

func fleetMenu(m *state.Room) {
	f := &state.Finder{Title: "All cities", EmptyText: "No action matches.", Reasons: true}
	for _, a := range m.Keys.ActionsIn(keymap.InFleet) {
		if a.ID != "fleet.verbs" && !Unseen(m, a) {
			t := actionItem(m, a)
			t.Note = a.Risk.Mark()
			f.All = append(f.All, t)
		}
	}
	for i := range m.Keys.Actions {
		if a := &m.Keys.Actions[i]; strings.HasPrefix(a.ID, state.ThemeID) {
			f.All = append(f.All, actionItem(m, a))
		}
	}
	openFinderOf(m, f)
}

// returnToCity goes back to the room from which this one was opened. In a program for all cities, it opens the city
// under the cursor.
func returnToCity(m *state.Room) []feed.Effect {
	if !m.All {
		return state.StartSwitch(m, m.OpenedFrom)
	}
	if why := needCityRow(m); why != "" {
		state.ShowFailure(m, why)
		return nil
	}
	return enterCity(m)
}

func backInFleet(m *state.Room) []feed.Effect {
	switch {
	case m.Status.Failed:
		m.Status = state.Status{}
	case m.OnNeeds:
		m.OnNeeds = false
	case m.CityFilter.Active():
		m.CityFilter = widget.Filter{}
		state.FilterCities(m)
	case !m.All:
		return state.StartSwitch(m, m.OpenedFrom)
	}
	return nil
}

func showOtherCity(m *state.Room) []feed.Effect {
	c := *state.ChosenCity(m)
	openReader(m, &state.Reader{Title: c.DisplayName,
		Lines: func(int) []string {
			return m.Fleet.Details(&c, state.RunnerText(m, &c), &m.Look, m.Now)
		}})
	return nil
}
