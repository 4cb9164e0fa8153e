package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gcity/city"
	"gcity/internal/suggest"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// verb is a command of the palette.
type verb struct {
	name  string
	usage string // its arguments
	does  string
	id    string // of the action with the same effect, for its keys
	looks bool   // it changes nothing
	// which argument extends to the end of the line, counted from 1; 0 = none
	text int
	args func(m *model, before []string) []word
	run  func(m *model, args []string) (todo []feed.Effect, why string)
}

// word is a completion.
type word struct{ word, note string }

// verbs returns the palette's commands. Where the name is optional they act on the selection.
func verbs() []verb {
	return []verb{
		{name: "goto", usage: "NAME", does: "go to an agent, a pool, an automation or a watchdog",
			looks: true, args: anyNames, run: goTo},
		{name: "attach", usage: "AGENT", does: "work in an agent's terminal", id: "agent.attach",
			args: one(agentNames), run: there("agent.attach")},
		{name: "details", usage: "NAME", does: "show details", id: "agent.details",
			looks: true, args: one(anyNames), run: there("agent.details")},
		{name: "restart", usage: "AGENT…", does: "restart agents", id: "agent.restart",
			args: agentNames, run: onAgents("agent.restart", nil)},
		{name: "drain", usage: "AGENT…", does: "drain agents: let them finish", id: "agent.drain",
			args: agentNames, run: onAgents("agent.drain", cannotDrain)},
		{name: "undrain", usage: "AGENT…", does: "cancel a drain", id: "agent.drain",
			args: agentNames, run: onAgents("agent.drain", cannotUndrain)},
		{name: "release", usage: "AGENT…", does: "release from quarantine or backoff",
			id: releaseID, args: agentNames, run: onAgents("", cannotRelease)},
		{name: "kill", usage: "AGENT…", does: "stop agents at once; they restart",
			id: "agent.end", args: agentNames, run: onAgents("agent.end", nil)},
		{name: "suspend", usage: "AGENT|POOL", does: "suspend an agent or a pool", id: suspendID,
			args: one(flaggedNames), run: flagging(true)},
		{name: "resume", usage: "AGENT|POOL", does: "resume an agent or a pool",
			id: suspendID, args: one(flaggedNames), run: flagging(false)},
		{name: "scale", usage: "POOL SIZE|auto", does: "set a pool's size, or return it " +
			"to its check", id: "pool.scale", args: scaleWords, run: scaleLine},
		{name: "fire", usage: "AUTOMATION", does: "fire an automation now", id: "automation.fire",
			args: one(automationNames), run: fireLine},
		{name: "stop", usage: "AUTOMATION", does: "stop an automation's current run",
			id: "automation.stop", args: one(automationNames), run: stopLine},
		{name: "beat", usage: "WATCHDOG", does: "run a watchdog now", id: "watchdog.beat",
			args: one(watchdogNames), run: beatLine},
		{name: "acknowledge", usage: "WATCHDOG", does: "acknowledge a watchdog's call",
			id: releaseID, args: one(watchdogNames), run: heardLine},
		{name: "send", usage: "TEXT…", does: "send a text to the selected or marked agents",
			id: "agent.send", text: 1, args: noWords, run: sendLine},
		{name: "nudge", usage: "AGENT TEXT…", does: "send a text to an agent", id: "agent.send",
			text: 2, args: one(agentNames), run: nudgeLine},
		{name: "mail", usage: "WHO SUBJECT…", does: "write mail to an agent, a pool or a person",
			id: mailID, text: 2, args: one(mailNames), run: writeLine},
		{name: "sling", usage: "AGENT|POOL ID", does: "hand work to an agent or a pool, " +
			"and notify it", id: slingID, args: one(flaggedNames), run: slingLine},
		{name: "unsend", usage: "AGENT…", does: "take back texts that wait for agents",
			id: unsendID, args: agentNames, run: onAgents(unsendID, cannotUnsend)},
		{name: "city", usage: "NAME", does: "switch to another city", id: "city.switch",
			looks: true,
			args:  one(cityNames), run: cityLine},
		{name: "messages", does: "show past status lines", id: "view.messages", looks: true,
			run: byHand("view.messages")},
		{name: "undo", does: "undo the last verb", id: releaseID, run: byHand("verb.undo")},
	}
}

func verbCalled(name string) *verb {
	all := verbs()
	if i := slices.IndexFunc(all, func(v verb) bool { return v.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// commandItems lists the verbs in the palette, to be completed.
func commandItems(m *model) []item {
	var items []item
	for _, v := range verbs() {
		if v.args == nil || m.mode == ReadOnly && !v.looks || v.name == "city" && !m.directory {
			continue
		}
		items = append(items, item{Keys: m.keys.KeysOf(v.id), Title: v.name + " " + v.usage,
			Line: v.name, Words: v.does, Tail: v.does,
			Run: func(m *model) []feed.Effect { return openPaletteAt(m, v.name+" ") }})
	}
	return items
}

// runLine runs a line of the palette, or says why not.
func runLine(m *model, line string) (todo []feed.Effect, why string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, ""
	}
	v := verbCalled(words[0])
	if v == nil {
		all := verbs()
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].name
		}
		return nil, fmt.Sprintf("unknown verb %q", words[0]) + meant(words[0], names)
	}
	if !v.looks && m.mode == ReadOnly {
		return nil, needWritable(m)
	}
	if v.args != nil && len(words) == 1 {
		return nil, v.name + " needs " + v.usage
	}
	if v.text > 0 && len(words) > v.text {
		words = append(words[:v.text:v.text], rest(line, v.text))
	}
	return v.run(m, words[1:])
}

// rest returns a line after its first n words, unchanged.
func rest(line string, n int) string {
	for range n {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	return strings.TrimSpace(line)
}

// meant suggests a similar word, or "".
func meant(text string, names []string) string {
	if near := suggest.Nearest(text, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// one offers words only for the first argument.
func one(words func(*model, []string) []word) func(*model, []string) []word {
	return func(m *model, before []string) []word {
		if len(before) > 0 {
			return nil
		}
		return words(m, before)
	}
}

// agentNames returns the agents, the selected one first, without those already named.
func agentNames(m *model, before []string) []word {
	var all []word
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		if w := (word{r.Name, string(r.State)}); slices.Contains(before, r.Name) {
			continue
		} else if r.Name == m.Agents.Chosen {
			all = slices.Insert(all, 0, w)
		} else {
			all = append(all, w)
		}
	}
	return all
}

func poolNames(m *model) []word {
	var all []word
	for i := range m.Pools.Rows {
		p := &m.Pools.Rows[i]
		if w := (word{p.Name, "pool, " + p.Sizes()}); p.Name == m.Pools.Chosen {
			all = slices.Insert(all, 0, w)
		} else {
			all = append(all, w)
		}
	}
	return all
}

func automationNames(m *model, _ []string) []word {
	var all []word
	for i := range m.Automations.Rows {
		r := &m.Automations.Rows[i]
		if w := (word{r.Name, "automation, " + string(r.State)}); r.Name == m.Automations.Chosen {
			all = slices.Insert(all, 0, w)
		} else {
			all = append(all, w)
		}
	}
	return all
}

func flaggedNames(m *model, _ []string) []word {
	return append(agentNames(m, nil), poolNames(m)...)
}

func anyNames(m *model, before []string) []word {
	if len(before) > 0 {
		return nil
	}
	return slices.Concat(flaggedNames(m, nil), automationNames(m, nil), watchdogNames(m, nil))
}

// scaleWords returns the pools, then valid sizes.
func scaleWords(m *model, before []string) []word {
	const most = 100
	switch len(before) {
	case 0:
		return poolNames(m)
	case 1:
		p := m.Pools.Find(before[0])
		if p == nil {
			return nil
		}
		all := []word{{"auto", p.CheckSays()}}
		for n := p.Min; n <= min(p.Max, p.Min+most); n++ {
			all = append(all, word{word: strconv.Itoa(n)})
		}
		return all
	}
	return nil
}

// unknown says that a name does not exist.
func unknown(what, name string, known []word) string {
	names := make([]string, len(known))
	for i := range known {
		names[i] = known[i].word
	}
	return fmt.Sprintf("no %s is called %q", what, widget.Plain(name)) + meant(name, names)
}

// aimed runs a verb with named agents as its targets, independent of marks, selection and focus.
func aimed(m *model, names []string, do func() ([]feed.Effect, string)) ([]feed.Effect, string) {
	for _, name := range names {
		if m.Agents.Find(name) == nil {
			return nil, unknown("agent", name, agentNames(m, nil))
		}
	}
	m.aim = names
	defer func() { m.aim = nil }()
	return do()
}

// onAgents runs an action on the named agents, unless against returns a reason. Without an id it releases them.
func onAgents(id string, against func(r *panel.AgentRow) string) func(*model,
	[]string) ([]feed.Effect,
	string) {
	return func(m *model, names []string) ([]feed.Effect, string) {
		return aimed(m, names, func() ([]feed.Effect, string) {
			for _, r := range targets(m) {
				if against != nil && against(r) != "" {
					return nil, r.Shown + " is " + string(r.State) + ": " + against(r)
				}
			}
			if id == "" {
				return release(m), ""
			}
			a := m.keys.ByID(id)
			if why := a.Refused(m); why != "" {
				return nil, why
			}
			return a.Run(m), ""
		})
	}
}

func cannotDrain(r *panel.AgentRow) string {
	if r.Drainable() {
		return ""
	}
	return "there is nothing to drain"
}

func cannotUndrain(r *panel.AgentRow) string {
	switch {
	case r.Undrainable():
		return ""
	case r.Surplus():
		return "its pool is scaling down; scale " + widget.Plain(r.Pool) + " up to keep it"
	}
	return "it is not draining"
}

func cannotRelease(r *panel.AgentRow) string {
	switch {
	case r.Held():
		return ""
	case r.Surplus():
		return cannotUndrain(r)
	}
	return "there is nothing to release"
}

// flagging suspends or resumes an agent or a pool.
func flagging(off bool) func(*model, []string) ([]feed.Effect, string) {
	return func(m *model, args []string) ([]feed.Effect, string) {
		name := args[0]
		if p := m.Pools.Find(name); p != nil {
			if why := flaggedAlready(p.Shown, p.Suspended != "", off); why != "" {
				return nil, why
			}
			return askSuspendPools(m, []*panel.PoolRow{p}), ""
		}
		r := m.Agents.Find(name)
		if r == nil {
			return nil, unknown("agent or pool", name, flaggedNames(m, nil))
		}
		if why := flaggedAlready(r.Shown, r.State == city.Suspended, off); why != "" {
			return nil, why
		}
		return aimed(m, []string{name}, func() ([]feed.Effect, string) { return askSuspend(m), "" })
	}
}

// flaggedAlready says that there is nothing to do.
func flaggedAlready(shown string, is, wanted bool) string {
	switch {
	case is && wanted:
		return shown + " is already suspended"
	case !is && !wanted:
		return shown + " is not suspended"
	}
	return ""
}

func scaleLine(m *model, args []string) ([]feed.Effect, string) {
	p := m.Pools.Find(args[0])
	if p == nil {
		return nil, unknown("pool", args[0], poolNames(m))
	}
	if len(args) != 2 {
		return nil, fmt.Sprintf("the size is missing: %s, or auto", p.Bounds())
	}
	size, auto, why := p.SizeOf(args[1])
	switch {
	case why != "":
		return nil, why
	case auto:
		return m.auto(p), ""
	}
	return scale(m, p, size), ""
}

func fireLine(m *model, args []string) ([]feed.Effect, string) {
	r := m.Automations.Find(args[0])
	if r == nil {
		return nil, unknown("automation", args[0], automationNames(m, nil))
	}
	rows := []*panel.AutomationRow{r}
	if why := brokenOf(rows); why != "" {
		return nil, why
	}
	return fire(m, rows), ""
}

func stopLine(m *model, args []string) ([]feed.Effect, string) {
	r := m.Automations.Find(args[0])
	if r == nil {
		return nil, unknown("automation", args[0], automationNames(m, nil))
	}
	rows := []*panel.AutomationRow{r}
	if why := idleOf(rows); why != "" {
		return nil, why
	}
	return endRuns(m, rows), ""
}

// goTo moves focus and cursor to what is named, and clears a filter that hides it.
func goTo(m *model, args []string) ([]feed.Effect, string) {
	name := args[0]
	for _, p := range m.Panels {
		if !p.Has(name) {
			continue
		}
		focusOn(m, p.About().ID)
		*p.Query(), m.attention = widget.Filter{}, false
		m.refill()
		if p.About().Kind == panel.KindAgent {
			choose(m, name)
		} else {
			p.Select(name)
			m.followSubject()
		}
		return nil, ""
	}
	return nil, unknown("agent, pool, automation or watchdog", name, anyNames(m, nil))
}

// there goes to what is named and runs an action there.
func there(id string) func(*model, []string) ([]feed.Effect, string) {
	return func(m *model, args []string) ([]feed.Effect, string) {
		if _, why := goTo(m, args); why != "" {
			return nil, why
		}
		return byHand(id)(m, nil)
	}
}

// byHand runs the action of a key.
func byHand(id string) func(*model, []string) ([]feed.Effect, string) {
	return func(m *model, _ []string) ([]feed.Effect, string) {
		a := m.keys.ByID(id)
		if why := a.Refused(m); why != "" {
			return nil, why
		}
		return a.Run(m), ""
	}
}
