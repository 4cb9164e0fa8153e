package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/widget"
)

// Alert is a problem that is shown below the header.
type Alert struct {
	Text    string // can have several lines
	Key     string
	Effect  string // text after the key, for example "shows the plan"; "" = the key opens a panel
	Warning bool
	Pending bool // a decision is needed, but nothing has failed

	Action  string   // ID of the action that the key runs
	Rows    []string // keys of the rows with the problem, worst first
	Unnamed []string // rows that Text does not name
}

func (a *Alert) tokens() (sign, text themes.Token) {
	switch {
	case a.Warning:
		return themes.Warn, themes.Dim
	case a.Pending:
		return themes.Warn, themes.Alert
	}
	return themes.Bad, themes.Alert
}

// Sign returns the alert's colored symbol, or that of the cursor.
func (a *Alert) Sign(k *widget.Styles, cursor bool) string {
	token, _ := a.tokens()
	if cursor {
		return k.Paint(token, k.Glyphs.Cursor)
	}
	return k.Paint(token, k.Glyphs.Alert)
}

// FirstRow identifies the alert's first row in all panels, or returns "".
func (a *Alert) FirstRow() string {
	if len(a.Rows) == 0 {
		return ""
	}
	return a.Action + " " + a.Rows[0]
}

func (a *Alert) hint(w int) (before, key, after string) {
	switch {
	case a.Key == "":
		return "", "", ""
	case w < 60:
		return "[", a.Key, "]"
	case a.Effect == "", w < 100 && strings.HasPrefix(a.Effect, ","):
		return "press ", a.Key, ""
	case strings.HasPrefix(a.Effect, ","):
		return "press ", a.Key, a.Effect
	}
	return "", a.Key, " " + a.Effect
}

// Details returns the alert with the names of its rows and its key.
func (a *Alert) Details(k *widget.Styles) string {
	text := a.Text
	if len(a.Unnamed) > 0 {
		text += ": " + widget.Plain(strings.Join(a.Unnamed, ", "))
	}
	if before, key, after := a.hint(widget.Unlimited); key != "" {
		text += "  " + k.Paint(themes.Dim, before) + k.Paint(themes.Key, key) +
			k.Paint(themes.Dim, after)
	}
	return text
}

func hintGap(w int) int {
	if w < 60 {
		return 1
	}
	return 2
}

func (a *Alert) width(w int) int {
	before, key, after := a.hint(w)
	n := 3 + widget.Width(a.Text) + widget.Width(before+after)
	if key != "" {
		n += hintGap(w) + widget.Width(key)
	}
	if strings.Contains(a.Text, "\n") {
		n = w + 1
	}
	return n
}

func (a *Alert) add(l *widget.Line, w, screenWidth int) {
	before, key, after := a.hint(screenWidth)
	sign, text := a.tokens()
	room := w - 3 - widget.Width(before+after)
	if key != "" {
		room -= hintGap(screenWidth) + widget.Width(key)
	}
	l.Add(sign, " "+l.Styles.Glyphs.Alert+" ")
	l.Add(text, widget.CutFirstItem(a.Text, max(0, room), l.Styles.Glyphs.More))
	if key != "" {
		l.Space(hintGap(screenWidth))
		l.Add(themes.Dim, before)
		l.Add(themes.Key, key)
		l.Add(themes.Dim, after)
	}
}

// AlertLines returns at most n lines of w columns. If it omits alerts, the last line names key, which shows the rest.
func AlertLines(k *widget.Styles, all []Alert, w, n int, key string) (lines []string) {
	for _, r := range alertRows(all, w, n, key) {
		lines = append(lines, alertLine(k, r.alerts, w, key, r.end))
	}
	return lines
}

// CountAlertLines returns the number of lines that AlertLines returns.
func CountAlertLines(all []Alert, w, n int, key string) int {
	return len(alertRows(all, w, n, key))
}

type alertRow struct {
	alerts []Alert
	end    string
}

func alertRows(all []Alert, w, n int, key string) (rows []alertRow) {
	for len(all) > 0 && len(rows) < n {
		from := 1
		for used := all[0].width(w); from < len(all); from++ {
			if used += 1 + all[from].width(w); used >= w {
				break
			}
		}
		end := ""
		if len(rows) == n-1 {
			from, end = lastAlerts(all, from, w, key)
		} else if all[0].width(w) >= w && all[0].Key == "" {
			end = " shows all"
		}
		rows = append(rows, alertRow{all[:from], end})
		all = all[from:]
	}
	return rows
}

func lastAlerts(all []Alert, n, w int, key string) (shown int, end string) {
	for ; ; n-- {
		rest := len(all) - n
		switch {
		case rest > 0 && w < 60:
			end = fmt.Sprintf(" shows %d more", rest)
		case rest > 0:
			end = fmt.Sprintf(" shows all %d", len(all))
		case all[0].width(w) >= w && all[0].Key == "":
			end = " shows all"
		}
		used := widget.Width(key) + widget.Width(end) + 3
		for i := range n {
			used += 1 + all[i].width(w)
		}
		if n == 1 || used < w || end == "" {
			return n, end
		}
	}
}

func alertLine(k *widget.Styles, all []Alert, w int, key, end string) string {
	l, room := widget.Line{Styles: k}, w-1
	if end != "" {
		room -= widget.Width(key) + widget.Width(end) + 2
	}
	for i := range all {
		if i > 0 {
			l.Space(1)
		}
		all[i].add(&l, room-l.Width, w)
	}
	if end != "" {
		l.Space(2)
		l.Add(themes.Key, key)
		l.Add(themes.Dim, end)
	}
	return l.Row(w)
}

// Alerts returns the problems with a city, worst first. held is the reason why a configuration is held, or "".
func (l *Lists) Alerts(e *Env, rejected []Alert, held string, mistakes []string) (p []Alert) {
	s := e.Snap
	bad := func(text string) { p = append(p, Alert{Text: text}) }
	for _, d := range s.Degraded {
		bad(widget.PlainText(d))
	}
	calls, degraded := l.Watchdogs.Alerts(e)
	p = slices.Concat(p, calls, rejected, l.Agents.Alerts(e))
	p = slices.Concat(p, l.Automations.Alerts(e), l.Pools.Alerts(e), degraded)
	if held != "" {
		a := Alert{Text: "configuration held: " + held, Pending: true}
		if !e.ReadOnly {
			a.Action = "config.confirm"
			a.Key, a.Effect = e.Key(a.Action), "shows the plan"
		}
		p = append(p, a)
	}
	for _, d := range s.StrandedLines() {
		bad(widget.Plain(d))
	}
	for _, d := range mistakes {
		p = append(p, Alert{Text: d, Pending: true})
	}
	for _, d := range s.Config.Warnings {
		p = append(p, Alert{Text: "warning: " + widget.PlainText(d), Warning: true})
	}
	return p
}

// Alerts returns an alert if agents are failed, quarantined, stuck or unknown, or ask a question.
func (a *Agents) Alerts(e *Env) []Alert {
	var parts, names, unnamed []string
	alerts := describe.AgentAlerts(func(yield func(string, city.State) bool) {
		for r := range a.All() {
			if !yield(r.Name, a.alertState(r)) {
				return
			}
		}
	})
	if len(alerts) == 0 {
		return nil
	}
	for i := range alerts {
		g := &alerts[i]
		parts = append(parts, g.Text(widget.Plain(g.Names[0])))
		names = append(names, g.Names...)
		if len(g.Names) > 1 {
			unnamed = append(unnamed, g.Names...)
		}
	}
	leads := IDAgents
	if alerts[0].State == city.Quarantined {
		leads = IDQuarantine
	}
	if len(names) == 1 {
		if r := a.Find(names[0]); r.Quarantined() {
			parts = append(parts, cmp.Or(r.cause, r.Why), releaseText(r, e.Now))
		}
	}
	alert := e.rowsAlert(leads, strings.Join(parts, ", "), names)
	alert.Unnamed = unnamed
	return []Alert{alert}
}

func (e *Env) rowsAlert(in ID, text string, rows []string) Alert {
	focus := "focus." + string(in)
	a := Alert{Text: text, Key: e.Key(focus), Action: focus, Rows: rows}
	if len(rows) > 1 {
		a.Unnamed = rows
	}
	return a
}

// Alerts returns an alert for the pools with a problem.
func (p *Pools) Alerts(e *Env) []Alert {
	names, ills := p.problems(e.Now)
	if ills == "" {
		return nil
	}
	switch _, word, _ := strings.Cut(ills, " "); {
	case len(names) == 1:
		ills = "pool " + widget.Plain(names[0]) + " " + word
	case !strings.Contains(ills, ","):
		ills = widget.Count(len(names), "pool") + " " + word
	default:
		ills = "pools: " + ills
	}
	return []Alert{e.rowsAlert(IDPools, ills, names)}
}

// Alerts returns an alert for failing and broken automations.
func (a *Automations) Alerts(e *Env) []Alert {
	_, failing, broken := a.counts()
	text := FailingText(failing, broken)
	if text == "" {
		return nil
	}
	var names []string
	for _, r := range a.Where((*AutomationRow).Attention) {
		names = append(names, r.Name)
	}
	if len(names) == 1 {
		text = "automation " + widget.Plain(names[0]) + strings.TrimPrefix(text, "1 automation")
	}
	return []Alert{e.rowsAlert(IDAutomations, text, names)}
}

// FailingText returns the numbers of failing and broken automations, or "".
func FailingText(failing, broken int) string {
	switch {
	case failing == 0 && broken == 0:
		return ""
	case failing == 0:
		return widget.Count(broken, "automation") + " broken"
	case broken == 0:
		return widget.Count(failing, "automation") + " failing"
	}
	return widget.Count(failing, "automation") + " failing, " + widget.Number(broken) + " broken"
}

// Alerts returns the alerts about watchdogs that are calling and about degraded ones.
func (d *Watchdogs) Alerts(e *Env) (calls, degraded []Alert) {
	for _, r := range d.Calling() {
		how := ""
		if k := e.Key("agent.release"); k != "" && !e.ReadOnly {
			how = ", " + k + " there acknowledges"
		}
		call := e.rowsAlert(IDWatchdogs, CallLine(r.Info), []string{r.Name})
		call.Effect = how
		calls = append(calls, call)
	}
	for r := range d.All() {
		if r.Info.Degraded != "" && !r.Info.Suspended && !r.Info.IsEscalated() {
			degraded = append(degraded, e.rowsAlert(IDWatchdogs, "watchdog "+r.Shown+
				" is degraded: "+widget.Plain(r.Info.Degraded), []string{r.Name}))
		}
	}
	return calls, degraded
}

// NoneSelected says why no row of a panel is selected, and which key to press. here is true if keys already act on p.
func NoneSelected(e *Env, p Panel, here bool) string {
	a := p.About()
	_, _, shown, total := p.Cursor()
	none := "no " + a.Noun + " is selected"
	switch {
	case total == 0 && loading(e, p):
		return "the " + a.Noun + "s are still loading; press the key again when they are shown"
	case total == 0 && a.Subset && here:
		return "there are no " + a.Noun + "s in " + a.Title
	case total == 0 && (here || a.Optional):
		return "there are no " + a.Noun + "s"
	case shown > 0 || !here:
		return none + "; press " + e.KeyOf("focus."+string(a.ID))
	case p.Query().Active():
		return none + ": the filter hides all rows"
	case e.Attention && !a.Always:
		return fmt.Sprintf("%s: the attention filter hides all rows; %s shows all %d", none,
			e.KeyOf("view.attention"), total)
	}
	return none
}

func loading(e *Env, p Panel) bool {
	f, fetched := p.(interface{ loading() bool })
	return e.Snap == nil || fetched && f.loading()
}

func (e *Env) allWell(noun string, n int) []string {
	texts := []string{"No " + noun + " needs attention.",
		fmt.Sprintf("%s shows all %d.", e.KeyOf("view.attention"), n)}
	if e.Alerts == nil {
		return texts
	}
	for _, a := range e.Alerts() {
		if a.Key != "" && !a.Warning {
			before, key, after := a.hint(widget.Unlimited)
			texts = append(texts, widget.FirstItem(a.Text)+": "+before+key+after+".")
		}
	}
	return texts
}
