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
	if r == nil {
		return []string{"This automation is no longer part of the city."}
	}
	a, p := r.Automation, newPage(src)
	sign, token := panel.AutomationSign(src.Look, r.State)
	state := p.Paint(token, sign+" "+string(r.State))
	if soon := describe.NextRun(r.DueText(p.Now).Full); soon != "" {
		state += p.dot() + soon
		if !r.Next.IsZero() {
			state += " (" + widget.Clock(r.Next, p.Now) + ")"
		}
	}
	p.Show("state", state)
	says := r.GateState(p.Now) // empty if the countdown shows the state
	switch {
	case a.State == city.AutomationBroken:
		p.Show("gate", r.GateText())
		p.showText("reason", a.Reason)
	case r.State == panel.AutomationManual: // the state already contains the gate
		p.Show("gate", says)
	default:
		p.Show("gate", r.GateText())
		p.ShowKnown("reason", says)
	}
	if r.Failures > 0 {
		p.Show("failures", fmt.Sprintf("%d in a row", r.Failures))
	}
	p.ShowKnownPlain("runs", a.Exec)
	if a.Formula != "" {
		p.Show("cooks", "formula "+widget.Plain(a.Formula))
	}
	if a.Pool != "" {
		p.Show("for", "pool "+widget.Plain(a.Pool))
	}
	if a.Timeout > 0 {
		p.ShowPlain("limits", describe.Limits(a))
	}
	p.ShowKnown("rig", rigText(src, a.Rig))
	p.ShowKnownPlain("about", a.Description)
	p.Show("file", r.Source)
	p.ShowKnownPlain("layer", a.Layer)
	for _, w := range a.Warnings {
		p.Show("warning", p.Paint(themes.Warn, widget.Plain(w)))
	}
	h.live = h.live || a.Last != nil && a.Last.Ended == nil
	p.showLastRun(a.Last, a.LastUnknown)
	return p.Lines
}

func (p *page) showLastRun(run *city.Run, unknown bool) {
	p.Heading("Last run")
	switch {
	case unknown:
		p.Dim("Unknown, because the records of earlier runs have not been read.")
		return
	case run == nil:
		p.Dim("This automation has never run.")
		return
	}
	outcome, token := panel.RunOutcome(run)
	how := p.Paint(token, outcome)
	if run.Ended == nil {
		how += " for " + widget.Since(run.Opened, p.Now)
	} else {
		how += " in " + widget.Elapsed(run.Ended.Sub(run.Opened)) + ", " +
			widget.Ago(*run.Ended, p.Now)
	}
	p.Show("outcome", how)
	p.Show("because", panel.RunReason(run))
	p.ShowPlain("record", run.ID)
	if err := widget.Plain(run.Error); err != "" && err != outcome {
		p.Show("problem", p.Paint(themes.Bad, err))
	}
	if run.Made != "" {
		p.ShowPlain("created", run.Creation())
	}
	output := terminal.Tail(p.RunLines(run), shownOutput)
	p.ShowAll("output", output)
	if len(output) == 0 && run.Ended == nil {
		p.Show("output", p.Paint(themes.Dim, "nothing printed yet"))
	}
}

// Runs returns the runs, newest first.
func Runs(src *Source, h *RunHistory) []string {
	p := newPage(src)
	p.Heading("Runs")
	if h.Problem != "" {
		p.Add(p.Paint(themes.Bad, "cannot be read: "+h.Problem))
	}
	switch {
	case !h.Responded:
		p.Dim("loading " + p.Glyphs.More)
		return p.Lines
	case len(h.Runs) == 0 && h.Problem == "":
		p.Dim("No runs are recorded.")
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
			text += p.dot() + err
		}
		p.Add(p.Paint(themes.Dim, widget.Fit(widget.Clock(run.Opened, p.Now), 12, "")) + "  " +
			p.Paint(token, p.Fit(outcome, 11)) + "  " +
			widget.FitRight(took, 5, "") + "  " + text)
	}
	return p.Lines
}

const shownOutput = 100

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
	case r.WhileSuspended:
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
			". Another run will follow.")
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
