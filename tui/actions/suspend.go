package actions

import (
	"slices"

	"gcity/city"
	"gcity/describe"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

const suspensionStored = "The suspension will be stored in the configuration."

func setSuspended(m *state.Room, doing string, all []details.Suspendable,
	command func(name string) city.Command) []feed.Effect {
	commands := make([]city.Command, len(all))
	for i, s := range all {
		commands[i] = command(s.Name)
	}
	what := nameAll(m, all)
	state.Unmark(m, commands)
	return state.SendCommands(m, doing, what, commands...)
}

func nameAll(m *state.Room, all []details.Suspendable) string {
	cursor := m.Focused().Key()
	marked := len(m.NamedAgents) == 0 && (len(all) > 1 || all[0].Name != cursor)
	for _, s := range all {
		marked = marked && (m.Agents.Marks[s.Name] || m.Pools.Marks[s.Name] ||
			s.Pool && slices.ContainsFunc(m.Pools.Members(s.Name), func(r *panel.AgentRow) bool {
				return m.Agents.Marks[r.Name] && r.Name != cursor
			}))
	}
	return details.NameAll(all, marked)
}

func resumeAll(m *state.Room, all []details.Suspendable) []feed.Effect {
	return askIfWanted(m, question{title: "Resume " + nameAll(m, all) + "?", verb: "resume",
		do: func(m *state.Room) []feed.Effect { return setSuspended(m, "resuming", all, resume) }})
}

func needSuspend(m *state.Room) string {
	if state.ActsOn(m, panel.KindPool) {
		return needPoolVerb(m)
	}
	return needVerb(m)
}

// SuspendTargets returns the agents or pools that the suspend verb acts on.
func SuspendTargets(m *state.Room) []details.Suspendable {
	if state.ActsOnPools(m) {
		return suspendablePools(m.Pools.Targets())
	}
	return details.Suspendables(&m.Lists, state.Targets(m))
}

func askSuspend(m *state.Room) []feed.Effect {
	if state.ActsOnPools(m) {
		return askSuspendPools(m, m.Pools.Targets())
	}
	rows := state.Targets(m)
	return askSuspendAll(m, details.Suspendables(&m.Lists, rows),
		about(m, rows, m.Agents.Find, suspendQuestion))
}

// askSuspendAll suspends what is not suspended yet. If all is suspended, it resumes it.
func askSuspendAll(m *state.Room, all []details.Suspendable, suspend builder) []feed.Effect {
	on, off := details.SplitBySuspended(all)
	switch {
	case len(on) > 0:
		return askLive(m, suspend)
	case len(off) > 0:
		return resumeAll(m, off)
	}
	return askResumeParent(m, all[0])
}

func suspendQuestion(m *state.Room, rows []*panel.AgentRow) question {
	all := details.Suspendables(&m.Lists, rows)
	on, _ := details.SplitBySuspended(all)
	if len(on) == 0 {
		return nothingDone(nameAll(m, all) + " already suspended")
	}
	stop := "The sessions will stop, and none will start"
	if len(rows) == 1 && !on[0].Pool {
		stop = "Its session will stop, and no new one will start"
		if !rows[0].Running {
			stop = "No session will start"
		}
	}
	q := suspension(m, all, on, stop)
	switch {
	case len(on) > 1:
	case on[0].Pool && len(rows) == 1:
		q.targets = []string{rows[0].Shown + " is a member of a pool: all members are " +
			"suspended together."}
	case on[0].Pool:
		q.targets = []string{"The members of a pool are suspended together."}
	}
	return q
}

// suspension returns the question whether to suspend the objects in on. stop begins the sentence that says until when.
// all also contains the objects that are already suspended.
func suspension(m *state.Room, all, on []details.Suspendable, stop string) question {
	n, of := details.Suspends(&m.Lists, on)
	q := question{title: "Suspend " + nameAll(m, on) + "?", verb: "suspend", count: n, of: of,
		body: append([]string{
			stop + " until you press " + m.Keys.KeyText(state.SuspendID) + " again.",
			suspensionStored}, details.AlreadySuspended(all, on)...),
		do: func(m *state.Room) []feed.Effect { return setSuspended(m, "suspending", on, suspend) }}
	if len(on) > 1 {
		q.targets = []string{details.ListAll(on)}
	}
	return q
}

func askSuspendPools(m *state.Room, rows []*panel.PoolRow) []feed.Effect {
	return askSuspendAll(m, suspendablePools(rows),
		about(m, rows, m.Pools.Find, suspendPoolsQuestion))
}

func suspendablePools(rows []*panel.PoolRow) []details.Suspendable {
	all := make([]details.Suspendable, len(rows))
	for i, p := range rows {
		all[i] = details.SuspendablePool(p)
	}
	return all
}

func suspendPoolsQuestion(m *state.Room, rows []*panel.PoolRow) question {
	all := suspendablePools(rows)
	on, _ := details.SplitBySuspended(all)
	if len(on) == 0 {
		return nothingDone(nameAll(m, all) + " already suspended")
	}
	stop := "No member is running"
	if n := details.StoppingSessions(&m.Lists, on); n > 0 {
		stop = describe.SessionsStop(n)
	}
	return suspension(m, all, on, stop+", and none will start")
}

func askResumeParent(m *state.Room, s details.Suspendable) []feed.Effect {
	shown := details.NameAll([]details.Suspendable{s}, false)
	return askLive(m, func(m *state.Room) question {
		if s.By != city.CityLevel {
			q := resumeRigQuestion(m, s.Rig)
			q.body = []string{shown + " is suspended with its rig. The whole rig will be " +
				"resumed."}
			return q
		}
		if m.Snap != nil && !m.Snap.Suspended {
			return nothingDone(state.CityTitle(m, 50) +
				" is not suspended")
		}
		return question{verb: "resume", title: "Resume " + state.CityTitle(m, 50) + "?",
			body: []string{shown + " is suspended with the city. The whole city will be " +
				"resumed."},
			do: sending("resuming", "the city", city.Resume{})}
	})
}
