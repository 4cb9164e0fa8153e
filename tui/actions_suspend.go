package tui

import (
	"fmt"
	"strings"

	"gcity/city"
)

// subject is what a flag of the configuration is about: an agent, or a pool as a whole.
type subject struct {
	name, shown string
	pool        bool
}

// subjects are agents, or, of those that are one of several in a pool, the pools: a member has no flag of its own.
func (m *model) subjects(rows []*agentRow) []subject {
	var all []subject
	seen := map[string]bool{}
	for _, r := range rows {
		s := subject{name: r.name, shown: r.shown}
		if p := m.pools.find(r.pool); p != nil && p.max > 1 {
			s = subject{name: p.name, shown: p.shown, pool: true}
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
		return count(agents, "agent")
	case agents == 0:
		return count(pools, "pool")
	}
	return count(agents, "agent") + " and " + count(pools, "pool")
}

// flag sends a command for each subject.
func (m *model) flag(doing string, all []subject, command func(name string) city.Command) []effect {
	commands := make([]city.Command, len(all))
	for i, s := range all {
		commands[i] = command(s.name)
	}
	m.marks = map[string]bool{}
	return m.carry(doing, called(all), commands)
}

func suspend(name string) city.Command { return city.Suspend{Agent: name} }

func resume(name string) city.Command { return city.Resume{Agent: name} }

// needSuspend is for what is about the pool where Pools has the focus, else about the agents.
func needSuspend(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case m.focus == panelPools:
		return needPool(m)
	}
	return needVerb(m)
}

func (m *model) askSuspend() []effect {
	if m.focus == panelPools {
		return m.askSuspendPool(m.pool())
	}
	rows := m.targets()
	all := m.subjects(rows)
	if rows[0].state == city.Suspended {
		if len(rows) == 1 && m.askAbove(rows[0].shown, rows[0].why, rows[0].rig) {
			return nil
		}
		return m.flag("resuming", all, resume)
	}
	q := question{title: "Suspend " + called(all) + "?", verb: "suspend", count: len(all),
		do: func(m *model) []effect { return m.flag("suspending", all, suspend) }}
	switch {
	case len(all) > 1:
		q.whom = []string{listed(all)}
	case all[0].pool && len(rows) == 1:
		q.whom = []string{rows[0].shown + " is one of several in its pool: they are suspended together."}
	case all[0].pool:
		q.whom = []string{"The members of a pool are suspended together."}
	}
	q.body = []string{"The sessions end, and none begins until it is resumed (s).", "This is written into the configuration."}
	m.ask(q)
	return nil
}

// listed names subjects one by one.
func listed(all []subject) string {
	each := make([]string, len(all))
	for i := range all {
		each[i] = called(all[i : i+1])
	}
	return strings.Join(each, ", ")
}

func (m *model) askSuspendPool(p *poolRow) []effect {
	all := []subject{{name: p.name, shown: p.shown, pool: true}}
	if p.suspended != "" {
		if m.askAbove("pool "+p.shown, p.suspended, p.rig) {
			return nil
		}
		return m.flag("resuming", all, resume)
	}
	members := p.size + len(p.draining)
	body := []string{"No member runs, and none begins until it is resumed (s).", "This is written into the configuration."}
	if members > 0 {
		body[0] = fmt.Sprintf("%s end, and none begins until it is resumed (s).", count(members, "session"))
	}
	m.ask(question{title: "Suspend pool " + p.shown + "?", body: body, verb: "suspend",
		do: func(m *model) []effect { return m.flag("suspending", all, suspend) }})
	return nil
}

// askAbove offers to resume what keeps a thing suspended from above, its rig or the city; it reports false if it is the
// thing's own flag that does.
func (m *model) askAbove(shown, why, rig string) bool {
	q := question{verb: "resume"}
	switch {
	case strings.HasPrefix(why, "by rig ") && rig != "":
		q.title = "Resume rig " + plain(rig) + "?"
		q.body = []string{shown + " is suspended with its rig, and with all that belongs to it."}
		q.do = func(m *model) []effect {
			return m.carry("resuming", "rig "+plain(rig), []city.Command{city.ResumeRig{Rig: rig}})
		}
	case why == "by city":
		q.title = "Resume " + m.cityName() + "?"
		q.body = []string{shown + " is suspended with the whole city."}
		q.do = func(m *model) []effect { return m.carry("resuming", "the city", []city.Command{city.Resume{}}) }
	default:
		return false
	}
	m.ask(q)
	return true
}
