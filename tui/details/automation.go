package details

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// RunHistory contains the runs of the automation in the open reader.
type RunHistory struct {
	Name      string
	Runs      []city.Run // newest first
	Problem   string     // why the runs could not be read; "" = no error
	Newest    string     // the automation's latest run when the request was sent
	RequestID int        // ID of the request in progress; 0 = none
	Responded bool

	End   int  // number of the first line after the latest run and its output
	live  bool // a run was in progress while the details were open
	moved bool // the user has scrolled
}

// Automation returns the details of an automation without its earlier runs.
func Automation(src *Source, h *RunHistory) []string {
	r := src.Automations.Find(h.Name)
	a, ok := src.Snap.Automation(h.Name)
	if r == nil || !ok {
		return []string{"This automation is no longer part of the city."}
	}
	sign, token := panel.AutomationSign(src.Look, r.State)
	state := src.Look.Paint(token, sign+" "+string(r.State))
	if soon := describe.NextRun(r.DueText(src.Now).Full); soon != "" {
		state += " " + src.Look.Glyphs.Dot + " " + soon
		if !r.Next.IsZero() {
			state += " (" + widget.Clock(r.Next, src.Now) + ")"
		}
	}
	lines := []string{src.Look.Field("state", state), src.Look.Field("gate", r.GateText())}
	says := r.GateState(src.Now) // empty if the countdown shows the state
	switch {
	case a.State == city.AutomationBroken:
		lines = append(lines, fieldLines(src, "reason", a.Reason)...)
	case r.State == panel.AutomationManual: // the state already contains the gate
		lines[len(lines)-1] = src.Look.Field("gate", says)
	case says != "":
		lines = append(lines, src.Look.Field("reason", says))
	}
	if r.Failures > 0 {
		lines = append(lines, src.Look.Field("failures", fmt.Sprintf("%d in a row", r.Failures)))
	}
	if a.Exec != "" {
		lines = append(lines, src.Look.Field("runs", widget.Plain(a.Exec)))
	}
	if a.Formula != "" {
		lines = append(lines, src.Look.Field("cooks", "formula "+widget.Plain(a.Formula)))
	}
	if a.Pool != "" {
		lines = append(lines, src.Look.Field("for", "pool "+widget.Plain(a.Pool)))
	}
	if a.Timeout > 0 {
		lines = append(lines, src.Look.Field("limits", widget.Plain(describe.Limits(a))))
	}
	if a.Rig != "" {
		lines = append(lines, src.Look.Field("rig", rigText(src, a.Rig)))
	}
	if a.Description != "" {
		lines = append(lines, src.Look.Field("about", widget.Plain(a.Description)))
	}
	lines = append(lines, src.Look.Field("file", r.Source))
	if a.Layer != "" {
		lines = append(lines, src.Look.Field("layer", widget.Plain(a.Layer)))
	}
	for _, w := range a.Warnings {
		lines = append(lines, src.Look.Field("warning",
			src.Look.Paint(themes.Warn, widget.Plain(w))))
	}
	h.live = h.live || a.Last != nil && a.Last.Ended == nil
	return append(lines, lastRun(src, a.Last)...)
}

func lastRun(src *Source, run *city.Run) []string {
	lines := []string{"", src.Look.Paint(themes.Title, "Last run")}
	if run == nil {
		return append(lines, src.Look.Paint(themes.Dim, "This automation has never run."))
	}
	outcome, token := panel.RunOutcome(run)
	how := src.Look.Paint(token, outcome)
	if run.Ended == nil {
		how += " for " + widget.Age(src.Now.Sub(run.Opened))
	} else {
		how += " in " + widget.Elapsed(run.Ended.Sub(run.Opened)) + ", " +
			widget.Age(src.Now.Sub(*run.Ended)) + " ago"
	}
	lines = append(lines, src.Look.Field("outcome", how),
		src.Look.Field("because", panel.RunReason(run)),
		src.Look.Field("record", widget.Plain(run.ID)))
	if err := widget.Plain(run.Error); err != "" && err != outcome {
		lines = append(lines, src.Look.Field("problem", src.Look.Paint(themes.Bad, err)))
	}
	if run.Made != "" {
		lines = append(lines, src.Look.Field("created", widget.Plain(run.Creation())))
	}
	return append(lines, outputFields(src, run)...)
}

// Runs returns the runs, newest first.
func Runs(src *Source, h *RunHistory) []string {
	lines := []string{"", src.Look.Paint(themes.Title, "Runs")}
	if h.Problem != "" {
		lines = append(lines, src.Look.Paint(themes.Bad, "cannot be read: "+h.Problem))
	}
	switch {
	case !h.Responded:
		return append(lines, src.Look.Paint(themes.Dim, "loading "+src.Look.Glyphs.More))
	case len(h.Runs) == 0 && h.Problem == "":
		return append(lines, src.Look.Paint(themes.Dim, "No runs are recorded."))
	}
	for i := range h.Runs {
		run := &h.Runs[i]
		outcome, token := panel.RunOutcome(run)
		took := ""
		if run.Ended != nil {
			took = widget.Elapsed(run.Ended.Sub(run.Opened))
		}
		text := panel.RunReason(run)
		if err := widget.Plain(run.Error); err != "" && err != outcome {
			text += " " + src.Look.Glyphs.Dot + " " + err
		}
		lines = append(lines, src.Look.Paint(themes.Dim,
			widget.Fit(widget.Clock(run.Opened, src.Now), 12, ""))+"  "+
			src.Look.Paint(token, widget.Fit(outcome, 11, src.Look.Glyphs.More))+"  "+
			widget.FitRight(took, 5, "")+"  "+text)
	}
	return lines
}

const shownOutput = 100

func outputFields(src *Source, run *city.Run) []string {
	var lines []string
	label := "output"
	for _, text := range terminal.Tail(src.RunLines(run), shownOutput) {
		lines = append(lines, src.Look.Field(label, text))
		label = ""
	}
	if len(lines) == 0 && run.Ended == nil {
		lines = append(lines, src.Look.Field(label,
			src.Look.Paint(themes.Dim, "nothing printed yet")))
	}
	return lines
}

// ScrollTo returns the offset that shows the end of the latest run's output. If the user has scrolled, or no run was in
// progress while the details were open, it returns the given offset.
func (h *RunHistory) ScrollTo(offset, rows int) int {
	if !h.live || h.moved {
		return offset
	}
	return max(0, h.End-rows)
}

// Scrolled records that the user has scrolled.
func (h *RunHistory) Scrolled() { h.moved = true }

// Obstacles returns the reasons why an automation would not run by itself now.
func Obstacles(s *Source, r *panel.AutomationRow) []string {
	var lines []string
	suspended := func(rig city.Rig) bool { return rig.Name == r.Rig && rig.Suspended }
	switch {
	case r.Always:
	case s.Snap.Suspended:
		lines = append(lines, widget.Plain(s.Snap.Name)+
			" is suspended: its automations do not fire by themselves.")
	case slices.ContainsFunc(s.Snap.Rigs, suspended):
		lines = append(lines, "rig "+widget.Plain(r.Rig)+
			" is suspended: its automations do not fire by themselves.")
	}
	switch r.State {
	case panel.AutomationDue, panel.AutomationManual:
		return lines
	case panel.AutomationRunning:
		return append(lines, "A run has been in progress "+r.DueText(s.Now).Full+
			". Another run follows it.")
	case panel.AutomationOff:
		if len(lines) == 0 {
			lines = append(lines, "The automation is off: "+r.Reason+".")
		}
		return lines
	}
	return append(lines, notDue(s, r))
}

func notDue(s *Source, r *panel.AutomationRow) string {
	if r.Next.After(s.Now) {
		at := r.Next.In(s.Now.Location())
		clock := at.Format("15:04")
		if r.Next.Sub(s.Now) < 10*time.Minute { // the remaining time has seconds, too
			clock = at.Format("15:04:05")
		}
		if at.Format(time.DateOnly) != s.Now.Format(time.DateOnly) {
			clock = at.Format("Jan 02 15:04")
		}
		return fmt.Sprintf("Not due until %s (in %s).", clock,
			widget.Until(r.Next, s.Now))
	}
	gate := r.GateText()
	if says := r.GateState(s.Now); says != "" {
		gate += "; " + says
	}
	return "Not due: " + gate + "."
}
