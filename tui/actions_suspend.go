package tui

import (
	"cmp"
	"fmt"
	"gcity/describe"
	"strings"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// subject is an agent or a whole pool that can be suspended in the configuration.
type subject struct {
	name, shown string
	pool        bool
	rig         string
	off         string // why it is suspended; "" = not suspended
}

// above reports whether it is suspended with its rig or city, so that its own flag has no effect.
func (s *subject) above() bool {
	return s.off == "by city" || s.rig != "" && strings.HasPrefix(s.off, "by rig ")
}

func poolSubject(p *panel.PoolRow) subject {
	return subject{name: p.Name, shown: p.Shown, pool: true, rig: p.Rig, off: p.Suspended}
}

// byFlag splits subjects into those to suspend and those to resume by clearing their own flag. Subjects that are
// suspended with their rig or city are in neither list.
func byFlag(all []subject) (on, off []subject) {
	for _, s := range all {
		switch {
		case s.off == "":
			on = append(on, s)
		case !s.above():
			off = append(off, s)
		}
	}
	return on, off
}

// subjects returns agents, or pools for agents that have no flag of their own: members of a pool of several.
func subjects(m *model, rows []*panel.AgentRow) []subject {
	var all []subject
	seen := map[string]bool{}
	for _, r := range rows {
		s := subject{name: r.Name, shown: r.Shown, rig: r.Rig}
		if r.State == city.Suspended {
			s.off = cmp.Or(r.Why, string(r.State))
		}
		if p := m.Pools.Find(r.Pool); p != nil && p.Max > 1 {
			s = poolSubject(p)
		}
		if !seen[s.name] {
			seen[s.name] = true
			all = append(all, s)
		}
	}
	return all
}

// called names subjects: "builder", "pool worker", "2 agents and 1 pool".
func called(all []subject) string {
	pools := 0
	for _, s := range all {
		if s.pool {
			pools++
		}
	}
	agents := len(all) - pools
	switch {
	case len(all) == 1 && pools == 1:
		return "pool " + all[0].shown
	case len(all) == 1:
		return all[0].shown
	case pools == 0:
		return widget.Count(agents, "agent")
	case agents == 0:
		return widget.Count(pools, "pool")
	}
	return widget.Count(agents, "agent") + " and " + widget.Count(pools, "pool")
}

func setFlag(m *model, doing string, all []subject,
	command func(name string) city.Command) []feed.Effect {
	commands := make([]city.Command, len(all))
	for i, s := range all {
		commands[i] = command(s.name)
	}
	unmark(m, commands)
	return carry(m, doing, called(all), commands)
}

func suspend(name string) city.Command { return city.Suspend{Agent: name} }

func resume(name string) city.Command { return city.Resume{Agent: name} }

func resumeAll(m *model, all []subject) []feed.Effect {
	return perhaps(m, question{title: "Resume " + called(all) + "?", verb: "resume",
		do: func(m *model) []feed.Effect { return setFlag(m, "resuming", all, resume) }})
}

// needSuspend returns why s is not possible, or "". In Pools, s acts on the pool; elsewhere on agents.
func needSuspend(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case actsOn(m, panel.KindPool):
		return needPool(m)
	}
	return needVerb(m)
}

// flagTargets returns what s acts on.
func flagTargets(m *model) []subject {
	if !actsOn(m, panel.KindPool) || len(m.aim) > 0 {
		return subjects(m, targets(m))
	}
	var all []subject
	for _, p := range m.Pools.Targets() {
		all = append(all, poolSubject(p))
	}
	return all
}

func askSuspend(m *model) []feed.Effect {
	if actsOn(m, panel.KindPool) && len(m.aim) == 0 {
		return askSuspendPools(m, m.Pools.Targets())
	}
	rows := targets(m)
	all := subjects(m, rows)
	on, off := byFlag(all)
	switch {
	case len(on) == 0 && len(off) > 0:
		return resumeAll(m, off)
	case len(on) == 0:
		askAbove(m, all[0])
		return nil
	}
	q := question{title: "Suspend " + called(on) + "?", verb: "suspend",
		count: max(len(on), ending(m, on)),
		do:    func(m *model) []feed.Effect { return setFlag(m, "suspending", on, suspend) }}
	switch {
	case len(on) > 1:
		q.whom = []string{listed(on)}
	case on[0].pool && len(rows) == 1:
		q.whom = []string{rows[0].Shown + " is one of several members: they are " +
			"suspended together."}
	case on[0].pool:
		q.whom = []string{"The members of a pool are suspended together."}
	}
	q.body = append([]string{fmt.Sprintf("The sessions stop, and none starts until it is "+
		"resumed (%s).", m.keys.KeyOf(suspendID)), "This is stored in the configuration."},
		already(all, on)...)
	ask(m, q)
	return nil
}

// already returns a line with the number of subjects that are already suspended, if any.
func already(all, on []subject) []string {
	switch n := len(all) - len(on); n {
	case 0:
		return nil
	case 1:
		return []string{"1 other is already suspended and stays suspended."}
	default:
		return []string{fmt.Sprintf("%d others are already suspended and stay suspended.", n)}
	}
}

func listed(all []subject) string {
	each := make([]string, len(all))
	for i := range all {
		each[i] = called(all[i : i+1])
	}
	return strings.Join(each, ", ")
}

// askSuspendPools suspends the pools that are not suspended; if all are, it resumes them.
func askSuspendPools(m *model, rows []*panel.PoolRow) []feed.Effect {
	all := make([]subject, len(rows))
	for i, p := range rows {
		all[i] = poolSubject(p)
	}
	on, off := byFlag(all)
	switch {
	case len(on) == 0 && len(off) > 0:
		return resumeAll(m, off)
	case len(on) == 0:
		askAbove(m, all[0])
		return nil
	}
	ending := ending(m, on)
	body := []string{fmt.Sprintf("No member is running, and none starts until it is resumed (%s).",
		m.keys.KeyOf(suspendID)), "This is stored in the configuration."}
	if ending > 0 {
		body[0] = fmt.Sprintf("%s, and none starts until it is resumed (%s).",
			describe.SessionsStop(ending), m.keys.KeyOf(suspendID))
	}
	q := question{title: "Suspend " + called(on) + "?", body: append(body, already(all, on)...),
		verb: "suspend", count: max(len(on), ending),
		do: func(m *model) []feed.Effect { return setFlag(m, "suspending", on, suspend) }}
	if len(on) > 1 {
		q.whom = []string{listed(on)}
	}
	ask(m, q)
	return nil
}

// ending returns how many sessions stop if subjects are suspended.
func ending(m *model, all []subject) int {
	n := 0
	for _, s := range all {
		if p := m.Pools.Find(s.name); s.pool && p != nil {
			n += p.Size + len(p.Draining)
		} else if r := m.Agents.Find(s.name); r != nil && r.Running {
			n++
		}
	}
	return n
}

// askAbove offers to resume the rig or the city that suspends a subject.
func askAbove(m *model, s subject) {
	shown := called([]subject{s})
	q := question{verb: "resume", title: "Resume rig " + widget.Plain(s.rig) + "?",
		body: []string{shown + " is suspended with its rig and everything in it."},
		do: func(m *model) []feed.Effect {
			return carry(m, "resuming", "rig "+widget.Plain(s.rig),
				[]city.Command{city.ResumeRig{Rig: s.rig}})
		}}
	if s.off == "by city" {
		q.title, q.body = "Resume "+cityName(m)+"?",
			[]string{shown + " is suspended with the whole city."}
		q.do = func(m *model) []feed.Effect {
			return carry(m, "resuming", "the city", []city.Command{city.Resume{}})
		}
	}
	ask(m, q)
}
