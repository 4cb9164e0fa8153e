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
)

func agentActions() []state.Action {
	return []state.Action{
		{ID: "agent.zoom", Key: keymap.Bind("zoom into the terminal, or show crashes", "enter"),
			Short: "zoom", In: []keymap.Zone{keymap.InLists}, Why: needAgent, Run: enterAgent},
		{ID: "agent.attach.zoomed", Key: keymap.Bind(
			"zoom or attach: zoom into the terminal; press again to attach", "enter"),
			Short: "attach",
			In:    []keymap.Zone{keymap.InPeek}, Why: needZoom, Run: zoomOrAttach},
		{ID: "agent.attach",
			Key:   keymap.Bind("attach: work in the agent's terminal; ctrl+q detaches", "a"),
			Short: "attach",
			Why:   needTerminal, Run: attachSelected},
		{ID: "agent.send", Key: keymap.Bind("send text to the agent", "i"), Short: "send",
			Why: needRunning, Run: noEffects(askSend)},
		{ID: state.ReleaseID,
			Key: keymap.Bind("release or undo: end quarantine, backoff or drain, or undo an "+
				"action", "u"),
			Short: "release", Why: needUndoOrHeld, Run: undoOrRelease},
		{ID: "agent.restart", Key: keymap.Bind("restart the agent or the pool", "r"),
			Short: "restart",
			Risk:  keymap.Confirmed,
			Why:   needRestart, Run: askRestart},
		{ID: state.DrainID,
			Key:   keymap.Bind("drain: let agents finish, or cancel the drain", "D"),
			Short: "drain",
			Risk:  keymap.Confirmed, Why: needDrain, Run: askDrain},
		{ID: "agent.suspend", Key: keymap.Bind("suspend the agent or the pool, or resume it", "s"),
			Short: "suspend",
			Risk:  keymap.Confirmed, Why: needSuspend, Run: askSuspend},
		{ID: "agent.end", Key: keymap.Bind("kill or stop the agent", "ctrl+k"), Short: "",
			Risk: keymap.NameRequired,
			Why:  needSession, Run: askEnd},
		{ID: "agent.details",
			Key:   keymap.Bind("show details: reason, next step, last decisions or runs", "d"),
			Short: "details", Why: needSubject, Run: showDetails},
	}
}

func needAgent(m *state.Room) string {
	if state.SingleAgent(m) == nil {
		return noAgent(m)
	}
	return ""
}

func needSubject(m *state.Room) string {
	p := m.ActionPanel()
	switch {
	case p.About().Details != "" && p.Subject().Name == "":
		return state.NothingSelected(m, p)
	case p.About().Details == "" && state.SingleAgent(m) == nil:
		return noAgent(m)
	}
	return ""
}

func whyNotInPools(m *state.Room) string {
	var keys []string
	for _, id := range []string{"agent.restart", state.SuspendID, state.DrainID, "pool.scale",
		"pool.less", "pool.more"} {
		keys = append(keys, m.Keys.KeyText(id))
	}
	return fmt.Sprintf("press %s for the agents; %s and %s act on pools",
		m.Keys.KeyText("focus.agents"), strings.Join(keys, ", "), m.Keys.KeyText("pool.check"))
}

func needVerb(m *state.Room) string {
	why := state.NeedWritable(m)
	switch {
	case why != "":
	case state.ActsOnPools(m):
		return whyNotInPools(m)
	case state.AgentVerbsUnavailable(m) && len(m.NamedAgents) == 0:
		return WhyNotHere(m)
	case len(state.Targets(m)) == 0:
		return noAgent(m)
	}
	return why
}

func needSession(m *state.Room) string {
	if why := needVerb(m); why != "" {
		return why
	}
	rows := state.Targets(m)
	switch r := rows[0]; {
	case slices.ContainsFunc(rows, hasSession):
		return ""
	case len(rows) > 1:
		return "no selected agent has a session"
	case r.State == city.Suspended:
		return r.Shown + " " + r.State.Is() + " and has no session"
	default:
		return fmt.Sprintf("%s %s and has no session; %s keeps it stopped", r.Shown,
			r.State.Is(), m.Keys.KeyText(state.SuspendID))
	}
}

func releaseHint(m *state.Room, r *panel.AgentRow) string {
	if !r.Held() || state.Undoable(m) {
		return ""
	}
	return "; " + m.Keys.KeyText(state.ReleaseID) + " releases it"
}

func hasSession(r *panel.AgentRow) bool {
	return r.Running || r.State == city.Starting || r.State == city.Stopping ||
		r.State == city.Unknown
}

func noAgent(m *state.Room) string {
	return cmp.Or(m.Focused().About().NoAgent, panel.NoneSelected(m.Env(), m.Focused(), true))
}

func needTerminal(m *state.Room) string {
	r, why := state.SingleAgent(m), state.NeedWritable(m)
	switch {
	case why != "":
	case state.ActsOn(m, panel.KindPool):
		return needMember(m)
	case state.AgentVerbsUnavailable(m):
		return WhyNotHere(m)
	case r == nil:
		return noAgent(m)
	case !r.Running:
		return noSession(m, r)
	}
	return why
}

func noSession(m *state.Room, r *panel.AgentRow) string {
	return fmt.Sprintf("%s %s and has no session%s", r.Shown, r.State.Is(), releaseHint(m, r))
}

func needHeld(m *state.Room) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if rows := state.Targets(m); len(rows) == 1 {
		return whyNotHeld(m, rows[0])
	}
	if len(state.Releasable(m)) == 0 {
		return palette.OnlyHeld
	}
	return ""
}

func whyNotHeld(m *state.Room, r *panel.AgentRow) string {
	switch {
	case r.Held():
		return ""
	case r.Surplus():
		return state.SurplusReason(m, r)
	case r.Problem != "":
		return r.Shown + " cannot start: " + r.Problem
	}
	return palette.OnlyHeld
}

func zoomIn(m *state.Room) []feed.Effect {
	m.PreviousFocus = m.Focus
	m.Focus, m.Zoomed = panel.IDPeek, true
	return nil
}

func needZoom(m *state.Room) string {
	if m.Zoomed {
		return needTerminal(m)
	}
	return needAgent(m)
}

func zoomOrAttach(m *state.Room) []feed.Effect {
	if !m.Zoomed {
		m.PreviousFocus, m.Zoomed = m.Focus, true
		return nil
	}
	return attachSelected(m)
}

func attachSelected(m *state.Room) []feed.Effect {
	if state.ActsOn(m, panel.KindPool) {
		return attachMember(m)
	}
	return []feed.Effect{feed.Attach{Agent: state.SingleAgent(m).Name}}
}

func askRestart(m *state.Room) []feed.Effect {
	if state.ActsOnPools(m) {
		return askRestartOf(m, state.Pool(m))
	}
	return askLive(m, about(m, state.Targets(m), m.Agents.Find, restartQuestion))
}

func restartQuestion(m *state.Room, rows []*panel.AgentRow) question {
	all := len(rows)
	var out []string
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *panel.AgentRow) bool {
		why := state.Unrestartable(m, r)
		if why != "" {
			out = append(out, why)
		}
		return why != ""
	})
	if len(rows) == 0 {
		return question{none: "cannot restart: " + strings.Join(out, ", ")}
	}
	body := []string{"The session will end, and a new one will start. This does " +
		"not count as a crash."}
	if len(rows) > 1 {
		body[0] = "Each session will end, and a new one will start. This does not count " +
			"as a crash."
	}
	if !slices.ContainsFunc(rows, func(r *panel.AgentRow) bool { return r.Running }) {
		body[0] = "No session is running; a new one will start."
	}
	if slices.ContainsFunc(rows, (*panel.AgentRow).Quarantined) {
		body[0] += " This will end the quarantine."
	}
	if len(out) > 0 {
		body = append(body, "Not restarted: "+strings.Join(out, ", ")+".")
	}
	q := question{title: "Restart " + state.TargetNames(m, rows) + "?", verb: "restart",
		targets: state.TargetLines(m, rows), count: len(rows), of: "agents", body: body,
		do: sendingToEach("restarting", rows, restart)}
	if all == 1 {
		addPoolRestart(m, &q, rows[0])
	}
	return q
}

func release(m *state.Room) []feed.Effect {
	rows := state.Releasable(m)
	return askIfWanted(m, question{title: "Release " + state.TargetNames(m, rows) + "?",
		targets: state.TargetLines(m, rows),
		verb:    "release",
		do:      func(m *state.Room) []feed.Effect { return state.Release(m, rows) }})
}

func askEnd(m *state.Room) []feed.Effect {
	return askLive(m, about(m, state.Targets(m), m.Agents.Find, endQuestion))
}

func endQuestion(m *state.Room, rows []*panel.AgentRow) question {
	kill := sendingToEach("killing", rows, func(name string) city.Command {
		return city.Kill{Agent: name}
	})
	stop := sendingToEach("stopping", rows, func(name string) city.Command {
		return city.Stop{Agent: name}
	})
	title, answers := "Kill or stop ", []state.Answer{
		{Title: "kill: stop it immediately; it will restart", Do: kill},
		{Title: "stop: interrupt it and keep it stopped until it is resumed", Do: stop},
		{Title: "cancel", Safe: true},
	}
	// a member of a pool can be killed, but not stopped
	member := func(r *panel.AgentRow) bool { return r.Pool != "" && r.Pool != r.Name }
	if slices.ContainsFunc(rows, member) {
		title, answers = "Kill ", slices.Delete(answers, 1, 2)
	}
	required, of := details.Confirmation(rows)
	return question{title: title + state.TargetNames(m, rows), body: state.TargetLines(m, rows),
		plan: true, required: required, of: of, answers: answers, cursor: len(answers) - 1}
}

// WhyNotHere returns why agent verbs are not available with the current focus.
func WhyNotHere(m *state.Room) string {
	if m.Focus != panel.IDPeek {
		return "this panel shows " + m.ActionPanel().About().Noun + "s; press " +
			m.Keys.KeyText("focus.agents") + " for the agents"
	}
	return "the pane shows an automation; press " + m.Keys.KeyText("focus.agents") +
		" for the agents, " + m.Keys.KeyText("focus.automations") + " for the automations"
}
