package tui

import (
	"fmt"

	"gcity/city"
	"gcity/themes"
)

func (m *model) quarantinePanel(w, h int, focus bool, tabs []tab) []string {
	key := panelKey{w: w, h: h, focus: focus, data: m.agents.version, ui: m.ui, second: m.now.Unix()}
	return m.cache[panelQuarantine].lines(key, func() []string { return m.drawQuarantine(w, h, focus, tabs) })
}

func (m *model) drawQuarantine(w, h int, focus bool, tabs []tab) []string {
	lines := append(make([]string, 0, h), m.look.rule(w, focus, tabs, ""))
	if len(m.quarantine.list.shown) == 0 {
		why := "Nobody. An agent that crashes too often in a short time waits here."
		if m.snap == nil {
			why = "Waiting for the city."
		}
		lines = append(lines, m.look.note(why, w))
		return fillRows(lines, w, h)
	}
	longest := 0
	for _, i := range m.quarantine.list.shown {
		longest = max(longest, width(m.agents.rows[i].shown))
	}
	from, to := m.quarantine.list.window(h - 1)
	for i := from; i < to; i++ {
		row := &m.agents.rows[m.quarantine.list.shown[i]]
		s := m.rowState(row, focus)
		lines = append(lines, m.quarantineLine(row, min(max(longest, 8), w/4), w, s))
	}
	return fillRows(lines, w, h)
}

// quarantineLine shows name, why, crashes, last exit, until when, and the key; the last ones go first when it is narrow.
func (m *model) quarantineLine(r *agentRow, name, w int, s rowState) string {
	more := m.look.glyph.More
	l := m.look.start(s)
	token := themes.Bad
	if r.state != city.Quarantined {
		token = themes.Off
	}
	l.add(token, fitName(r.shown, name, more))
	l.space(2)
	free, last, key := "until released", lastExit(r.exit), m.keys.keyOf(releaseID)+" release"
	if r.until.After(m.now) {
		free = "free in " + left(r.until.Sub(m.now))
	}
	if r.state != city.Quarantined { // it is shown only because the cursor is on it
		free = string(r.state)
	}
	freeWidth, lastWidth, keyWidth := 14, 22, width(key)+2
	why := w - l.used - freeWidth - 1 - lastWidth - keyWidth
	if why < 40 || last == "" {
		why, lastWidth = why+lastWidth, 0
	}
	if why < 22 || m.mode == ReadOnly {
		why, keyWidth = why+keyWidth, 0
	}
	if why >= 12 {
		l.add(themes.Text, fit(r.why, why-2, more))
		l.space(2)
	}
	l.add(themes.Dim, fit(last, lastWidth-2, more))
	l.space(min(lastWidth, 2))
	l.add(themes.Warn, fit(free, freeWidth, more))
	if keyWidth > 0 {
		l.space(2)
		l.add(themes.Key, m.keys.keyOf(releaseID))
		l.add(themes.Dim, " release")
	}
	return crop(l.close(w), w)
}

// lastExit says how a life ended: "exit 3 after 12s".
func lastExit(e *city.Exit) string {
	if e == nil {
		return ""
	}
	how := fmt.Sprintf("exit %d", e.Code)
	switch {
	case e.Signal != "":
		how = plain(e.Signal)
	case e.Code < 0:
		how = "exit unknown"
	}
	switch {
	case e.Uptime <= 0: // nobody saw it begin
		return how
	case e.Uptime < tenth:
		return how + " at once"
	}
	return how + " after " + lasted(e.Uptime)
}
