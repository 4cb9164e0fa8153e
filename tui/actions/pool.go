package actions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func poolActions() []state.Action {
	return in([]state.Action{
		{ID: "pool.member", Key: keymap.Bind("choose a member of the pool, and go to it", "enter"),
			Short: "members", Why: needPool, Run: chooseMember},
		{ID: "pool.details",
			Key: keymap.Bind("show details of the pool: members, check, last decisions"),
			Why: needPool, Run: showPool},
		{ID: "pool.scale",
			Key:   keymap.Bind("set the pool's size, or let its check decide", "S"),
			Short: "size",
			Risk:  keymap.Confirmed, Why: needPoolVerb, Run: askScale},
		{ID: "pool.less", Key: keymap.Bind("reduce the pool's size by one", "<"), Short: "one less",
			Risk: keymap.Confirmed, Why: needLess,
			Run: func(m *state.Room) []feed.Effect {
				p := state.Pool(m)
				return scale(m, p, state.WantedSize(m, p)-1)
			}},
		{ID: "pool.more", Key: keymap.Bind("raise the pool's size by one", ">"), Short: "one more",
			Why: needMore,
			Run: func(m *state.Room) []feed.Effect {
				p := state.Pool(m)
				return scale(m, p, state.WantedSize(m, p)+1)
			}},
		{ID: "pool.check", Key: keymap.Bind("run the pool's check now", "K"),
			Why: needCheck,
			Run: func(m *state.Room) []feed.Effect { return checkOf(m, state.Pool(m).Name) }},
	}, keymap.InPools)
}

func needRestart(m *state.Room) string {
	if state.ActsOnPools(m) {
		return needPoolVerb(m)
	}
	if why := needVerb(m); why != "" {
		return why
	}
	rows := state.Targets(m)
	active := func(r *panel.AgentRow) bool { return r.State != city.Suspended }
	switch {
	case len(rows) > 1 && !slices.ContainsFunc(rows, active):
		return "the selected agents are suspended; " + m.Keys.KeyText(state.SuspendID) +
			" resumes them"
	case len(rows) == 1 && rows[0].Surplus():
		return state.SurplusReason(m, rows[0])
	case len(rows) == 1:
		return state.Unrestartable(m, rows[0])
	}
	return ""
}

func askRestartOf(m *state.Room, p *panel.PoolRow) []feed.Effect {
	return askLive(m, about(m, []*panel.PoolRow{p}, m.Pools.Find, restartPoolQuestion))
}

func restartPoolQuestion(m *state.Room, rows []*panel.PoolRow) question {
	p := rows[0]
	restarted, skipped := details.SplitByRestart(m.Pools.Members(p.Name))
	switch {
	case p.Suspended != "":
		return question{none: "cannot restart pool " + p.Shown + ": it is suspended; " +
			m.Keys.KeyText(state.SuspendID) + " resumes it"}
	case len(restarted) == 0:
		return question{none: "cannot restart pool " + p.Shown + ": it has no members to restart"}
	}
	answers := []state.Answer{
		{Key: "y", Title: "yes, one member after the other", Do: restartOf(p.Name, true)},
		{Key: "a", Title: "yes, all members at the same time", Do: restartOf(p.Name, false)},
		{Key: "m", Title: "choose just one member", Do: chooseRestarted(p)},
		{Key: "n", Title: "no, leave it", Safe: true},
	}
	if len(restarted) == 1 {
		answers[1].Key, answers[1].Title = "y", "yes, restart it"
		answers = slices.Delete(answers[1:], 1, 2)
	}
	return question{title: fmt.Sprintf("Restart %s?", p.Shown), plan: true,
		body: details.RestartText(restarted, skipped), count: len(restarted),
		cursor: len(answers) - 1, answers: answers}
}

func restartOf(name string, rolling bool) state.Task {
	return sending("restarting", "pool "+widget.Plain(name),
		city.RestartPool{Pool: name, Rolling: rolling})
}

func chooseRestarted(p *panel.PoolRow) state.Task {
	name, shown := p.Name, p.Shown
	return func(m *state.Room) []feed.Effect {
		return openMembers(m, "Restart which member of "+shown+"?", "restarts it",
			func(m *state.Room) []state.Item {
				rows := m.Pools.Members(name)
				items := palette.Members(&m.Look, rows, func(r *panel.AgentRow) state.Task {
					return sendingToEach("restarting", []*panel.AgentRow{r}, restart)
				})
				for i, r := range rows {
					if why := state.Unrestartable(m, r); why != "" {
						items[i].Verb = "does nothing"
						items[i].Why = func() string { return why }
					}
				}
				return items
			})
	}
}

func addPoolRestart(m *state.Room, q *question, r *panel.AgentRow) {
	p := m.Pools.Find(r.Pool)
	if p == nil {
		return
	}
	restarted, _ := details.SplitByRestart(m.Pools.Members(p.Name))
	if len(restarted) < 2 {
		return
	}
	q.most = len(restarted)
	q.more = []state.Answer{{Key: "p", Do: restartOf(p.Name, true),
		Title: fmt.Sprintf("pool: restart %s of %s, one after the other",
			details.AllMembers(len(restarted)), p.Shown)}}
}

func needCheck(m *state.Room) string {
	if why := needPoolVerb(m); why != "" {
		return why
	}
	return palette.CannotCheck(state.Pool(m))
}

func checkOf(m *state.Room, name string) []feed.Effect {
	shown := "pool " + widget.Plain(name)
	return askIfWanted(m, question{title: "Run the check of " + shown + "?", verb: "run it",
		do: sending("checking", shown, city.CheckPool{Pool: name})})
}

func needPool(m *state.Room) string {
	if state.Pool(m) == nil {
		return state.NothingSelected(m, m.Pools)
	}
	return ""
}

func needPoolVerb(m *state.Room) string {
	return cmp.Or(state.NeedWritable(m), needPool(m))
}

func needLess(m *state.Room) string {
	why := needPoolVerb(m)
	if p := state.Pool(m); why == "" && state.WantedSize(m, p) <= p.Min {
		return fmt.Sprintf("%s is at its minimum: %d (%s)", p.Shown, p.Min, p.Source)
	}
	return why
}

func needMore(m *state.Room) string {
	why := needPoolVerb(m)
	if p := state.Pool(m); why == "" && state.WantedSize(m, p) >= p.Max {
		return fmt.Sprintf("%s is at its maximum: %d (%s)", p.Shown, p.Max, p.Source)
	}
	return why
}

func askScale(m *state.Room) []feed.Effect {
	p := *state.Pool(m)
	m.Dialogs.Open(&state.Prompt{
		CurrentLabel: func() string {
			known := &p
			if now := m.Pools.Find(p.Name); now != nil {
				known = now
			}
			return fmt.Sprintf("scale %s to (%s, or auto; %s)", p.Shown, known.Bounds(),
				strings.TrimPrefix(known.CheckResult(), "the "))
		},
		Hint:     promptHint(m, "sets"),
		Edit:     widget.NewEntry(""),
		Validate: func(text string) string { _, _, why := p.SizeOf(text); return why },
		Done: func(text string) state.Task {
			return func(m *state.Room) []feed.Effect {
				size, auto, why := p.SizeOf(text)
				now := m.Pools.Find(p.Name)
				switch {
				case why != "" || text == "":
					return nil
				case now == nil:
					state.ShowFailure(m, "cannot scale "+p.Shown+": the pool is no longer part "+
						"of the city")
					return nil
				case auto:
					return autoScale(m, now)
				}
				return scale(m, now, size)
			}
		},
	})
	return nil
}

func scale(m *state.Room, p *panel.PoolRow, size int) []feed.Effect {
	name := p.Name
	do := func(m *state.Room) []feed.Effect {
		todo := state.SendCommands(m, "scaling",
			fmt.Sprintf("pool %s to %d", widget.Plain(name), size),
			city.Scale{Pool: name, Size: size})
		m.Scaled = state.Scaling{Pool: name, Size: size, At: m.Now}
		return todo
	}
	return askLeaving(m, question{title: fmt.Sprintf("Scale %s to %d?", p.Shown, size),
		verb: "scale", do: do}, p, size)
}

func autoScale(m *state.Room, p *panel.PoolRow) []feed.Effect {
	name, size := p.Name, details.AutoSize(p)
	do := func(m *state.Room) []feed.Effect {
		todo := state.SendCommands(m, "resetting", "pool "+widget.Plain(name)+
			" to its check's size", city.Scale{Pool: name, Auto: true})
		m.Scaled = state.Scaling{}
		return todo
	}
	return askLeaving(m, question{title: "Let " + p.Shown + "'s check set the size again?",
		verb: "let it decide", do: do}, p, size)
}

func askLeaving(m *state.Room, q question, p *panel.PoolRow, size int) []feed.Effect {
	if len(details.PredictLeaving(m.Details(), p.Name, size)) == 0 {
		return askIfWanted(m, q)
	}
	return askLive(m, about(m, []*panel.PoolRow{p}, m.Pools.Find, func(m *state.Room,
		rows []*panel.PoolRow) question {
		q, leaving := q, details.PredictLeaving(m.Details(), rows[0].Name, size)
		if len(leaving) == 0 {
			q.body = []string{"No member leaves."}
			return q
		}
		q.targets, q.count = []string{details.ListRows(leaving) + " will be drained"}, len(leaving)
		q.body = details.DrainEffects(m.Pools, leaving)[:1]
		return q
	}))
}

func needMember(m *state.Room) string {
	if why := needPool(m); why != "" {
		return why
	}
	if len(state.MembersAt(m)) == 0 {
		return "no member of the pool " + m.Pools.Current().Shown + " is running"
	}
	return ""
}

func attachMember(m *state.Room) []feed.Effect {
	to := func(name string) []feed.Effect {
		state.ShowAgent(m, name)
		return []feed.Effect{feed.Attach{Agent: name}}
	}
	rows := state.MembersAt(m)
	if len(rows) == 1 {
		return to(rows[0].Name)
	}
	return openMembers(m, "Attach to a member of "+m.Pools.Current().Shown, "attaches",
		func(m *state.Room) []state.Item {
			return palette.Members(&m.Look, state.MembersAt(m), func(r *panel.AgentRow) state.Task {
				return func(m *state.Room) []feed.Effect {
					if now := m.Agents.Find(r.Name); now == nil || !now.Running {
						why := "cannot attach: " + r.Shown + " is no longer running"
						ReportNotAttached(m, why, m.Now)
						return nil
					}
					return to(r.Name)
				}
			})
		})
}

type members func(m *state.Room) []state.Item

func openMembers(m *state.Room, title, verb string, list members) []feed.Effect {
	openFinderOf(m, &state.Finder{Title: title, Verb: verb, About: list,
		Prompt:    "number or name of the member",
		EmptyText: "No member matches. Type a part of a member's name, or the number at its end."})
	RefreshMembers(m)
	return nil
}

// RefreshMembers updates the open list of members.
func RefreshMembers(m *state.Room) {
	if f := m.Dialogs.Finder(); f != nil {
		if current, ok := f.About.(members); ok {
			f.Refill(current(m))
		}
	}
}

func chooseMember(m *state.Room) []feed.Effect {
	p := state.Pool(m)
	name := p.Name
	request := panel.Request{GoTo: panel.IDAgents, Filter: "pool:" + p.Name}
	all := state.Item{Title: "all members", Note: "in Agents", Extra: true,
		Run: func(m *state.Room) []feed.Effect { return runRequest(m, request) }}
	return openMembers(m, "Members of "+p.Shown, "goes to it", func(m *state.Room) []state.Item {
		return append([]state.Item{all}, palette.Members(&m.Look, m.Pools.Members(name),
			func(r *panel.AgentRow) state.Task {
				return func(m *state.Room) []feed.Effect {
					runRequest(m, request)
					return chooseNamed(m, r.Name)
				}
			})...)
	})
}
