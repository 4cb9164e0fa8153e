package tui

import (
	"fmt"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

func (m *model) quarantinePanel(w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.agents.Version, UI: m.ui,
		Second: m.now.Unix()}
	return m.cache[panelQuarantine].Lines(key, func() []string { return m.drawQuarantine(w, h, focus, tabs) })
}

func (m *model) drawQuarantine(w, h int, focus bool, tabs []widget.Tab) []string {
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, ""))
	if len(m.quarantine.List.Shown) == 0 {
		why := "Nobody. An agent that crashes too often in a short time waits here."
		if m.snap == nil {
			why = "Waiting for the city."
		}
		lines = append(lines, m.look.Note(why, w))
		return widget.FillRows(lines, w, h)
	}
	longest := 0
	for _, i := range m.quarantine.List.Shown {
		longest = max(longest, widget.Width(m.agents.Rows[i].shown))
	}
	from, to := m.quarantine.List.Window(h - 1)
	for i := from; i < to; i++ {
		row := &m.agents.Rows[m.quarantine.List.Shown[i]]
		s := m.rowState(row, focus)
		lines = append(lines, m.quarantineLine(row, min(max(longest, 8), w/4), w, s))
	}
	return widget.FillRows(lines, w, h)
}

// quarantineLine shows name, why, crashes, last exit, until when, and the key; the last ones go first when it is narrow.
func (m *model) quarantineLine(r *agentRow, name, w int, s widget.RowState) string {
	more := m.look.Glyphs.More
	l := m.look.RowStart(s)
	token := themes.Bad
	if r.state != city.Quarantined {
		token = themes.Off
	}
	l.Add(token, widget.FitName(r.shown, name, more))
	l.Space(2)
	free, last, key := "until released", lastExit(r.exit), m.keys.KeyOf(releaseID)+" release"
	if r.until.After(m.now) {
		free = "free in " + widget.Remaining(r.until.Sub(m.now))
	}
	if r.state != city.Quarantined { // it is shown only because the cursor is on it
		free = string(r.state)
	}
	freeWidth, lastWidth, keyWidth := 14, 22, widget.Width(key)+2
	why := w - l.Width - freeWidth - 1 - lastWidth - keyWidth
	if why < 40 || last == "" {
		why, lastWidth = why+lastWidth, 0
	}
	if why < 22 || m.mode == ReadOnly {
		why, keyWidth = why+keyWidth, 0
	}
	if why >= 12 {
		l.Add(themes.Text, widget.Fit(r.why, why-2, more))
		l.Space(2)
	}
	l.Add(themes.Dim, widget.Fit(last, lastWidth-2, more))
	l.Space(min(lastWidth, 2))
	l.Add(themes.Warn, widget.Fit(free, freeWidth, more))
	if keyWidth > 0 {
		l.Space(2)
		l.Add(themes.Key, m.keys.KeyOf(releaseID))
		l.Add(themes.Dim, " release")
	}
	return widget.Crop(l.Fill(w), w)
}

// lastExit says how a life ended: "exit 3 after 12s".
func lastExit(e *city.Exit) string {
	if e == nil {
		return ""
	}
	how := fmt.Sprintf("exit %d", e.Code)
	switch {
	case e.Signal != "":
		how = widget.Plain(e.Signal)
	case e.Code < 0:
		how = "exit unknown"
	}
	switch {
	case e.Uptime <= 0: // nobody saw it begin
		return how
	case e.Uptime < widget.Tenth:
		return how + " at once"
	}
	return how + " after " + widget.Elapsed(e.Uptime)
}
