package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/shell"
)

func (a *app) automationCommand() *cobra.Command {
	c := group("automation", "Work that begins by itself: look at it, run it now",
		a.automationList(), a.automationShow(), a.automationCheck(), a.automationRun(),
		a.automationStop(), a.automationLogs(), a.automationHistory())
	c.Long = `automation looks at what begins by itself: a file automations/NAME/automation.toml
in the folder of [formulas] dir (.gc/formulas), like

  [automation]
  gate     = "cooldown"      # or cron, condition, event, manual
  interval = "10m"
  exec     = "date >> ticks" # or formula = "NAME"

docs/automations.md has all gates and keys. A rig's automation has the name
NAME:rig:RIG; its NAME alone will do where only one has it, or with --rig.`
	return c
}

// namedAutomation is what the commands about one automation get.
type namedAutomation struct {
	l    *link
	s    *city.Snapshot
	item *city.Automation
}

// forAutomation gives a command its deed: run gets the open city and the automation of the first argument.
func (a *app) forAutomation(c *cobra.Command,
	run func(ctx context.Context, n namedAutomation) error) *cobra.Command {
	var rig string
	c.Flags().StringVar(&rig, "rig", "", "the one of this rig")
	c.Args, c.ValidArgsFunction = exactly(1), a.complete(kindAutomation)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		f, err := l.resolve(cmd.Context(), automation.Scoped(args[0], rig), kindAutomation)
		if err != nil {
			return err
		}
		return run(cmd.Context(), namedAutomation{l, f.snapshot, f.automation})
	}
	return c
}

func (a *app) automationList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "All automations with what their gates say; broken and disabled ones too", Args: exactly(0),
		Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			s, err := l.Snapshot(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				return a.WriteJSON(output.ListOf(s.Automations))
			case len(s.Automations) == 0:
				a.Sayf("no automations; this makes one, which is noticed at once:\n\n%s",
					a.firstAutomation(l.dir))
				return nil
			}
			return a.writeAutomations(a.Out, s.Automations)
		},
	}
}

// firstAutomation are the shell lines that make an automation where there is none.
func (a *app) firstAutomation(dir string) string {
	folder := filepath.Join(dir, ".gc", "formulas", automation.Folder, "tick")
	if c, err := loadCity(dir); err == nil {
		for _, l := range c.Layers() {
			if l.Rig == "" && l.Root == "" {
				folder = filepath.Join(l.Dir, automation.Folder, "tick")
			}
		}
	}
	return fmt.Sprintf("  mkdir -p %s\n  printf '[automation]\\ngate = \"cooldown\"\\ninterval = \"10m\"\\nexec = \"date >> ticks\"\\n' > %s\n\ndocs/automations.md tells of all gates and keys",
		shell.Quote(folder), shell.Quote(filepath.Join(folder, automation.FileName)))
}

func (a *app) automationShow() *cobra.Command {
	return a.forAutomation(&cobra.Command{Use: "show NAME",
		Short: "Everything known about one, with its last runs"},
		func(ctx context.Context, n namedAutomation) error {
			if a.JSON {
				return a.WriteJSON(n.item)
			}
			a.Sayf("%s", a.automationStanding(n.item))
			if n.item.Description != "" {
				a.Sayf("  %s", output.SafeLine(n.item.Description))
			}
			a.automationFacts(n.item, n.l.live)
			runs, err := a.pastRuns(ctx, n.l.dir, n.item.Name, 5)
			if err != nil || len(runs) == 0 {
				return err
			}
			a.Sayf("")
			return a.writeRuns(a.Out, runs)
		})
}

// pastRuns reads the records of an automation's newest runs, straight from the city's store, with and without a
// controller; limit as of a beads.Query.
func (a *app) pastRuns(ctx context.Context, dir, name string, limit int) (_ []city.Run, err error) {
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	all, err := a.placesIn(ctx, dir)
	if err != nil {
		return nil, err
	}
	s, err := a.store(all[0])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := s.List(ctx, runsOf(name, limit))
	if err != nil {
		return nil, fmt.Errorf("cannot read the runs of %s: %w", name, workProblem(err))
	}
	runs := make([]city.Run, 0, len(records))
	for _, r := range records {
		runs = append(runs, city.RunOf(r))
	}
	return runs, nil
}

func (a *app) automationHistory() *cobra.Command {
	var (
		rig   string
		limit int
	)
	c := &cobra.Command{
		Use: "history NAME", Short: "Its runs, the newest first, those of one that is no more too",
		Args:              exactly(1),
		ValidArgsFunction: a.complete(kindAutomation),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return exit.Usage("--limit needs a number, 0 for all")
			}
			return a.history(cmd.Context(), automation.Scoped(args[0], rig), cmp.Or(limit, -1))
		},
	}
	c.Flags().StringVar(&rig, "rig", "", "of the one of this rig")
	c.Flags().IntVarP(&limit, "limit", "n", 20, "at most so many, 0 = all")
	return c
}

func (a *app) history(ctx context.Context, name string, limit int) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	f, unknown := l.resolve(ctx, name, kindAutomation)
	if unknown == nil {
		name = f.automation.Name
	}
	runs, err := a.pastRuns(ctx, l.dir, name, limit)
	switch {
	case err != nil:
		return err
	case unknown != nil && len(runs) == 0:
		return unknown
	case a.JSON:
		return a.WriteJSON(output.ListOf(runs))
	case len(runs) == 0:
		a.Sayf("%s has never run", output.SafeLine(name))
		return nil
	}
	return a.writeRuns(a.Out, runs)
}

func (a *app) automationCheck() *cobra.Command {
	var rig string
	c := &cobra.Command{
		Use: "check [NAME]", Short: "Whether one is due, or any: exit 0 if so, 1 if not",
		Args: between(0, 1),
		Long: `check says whether an automation is due, or which of all are. With a controller
that is what it found in its last turn; without one the gates are judged by the
records of runs, and the checks of conditions are run. Nothing is started. It exits

  0  if it, or any, is due
  1  if not, also where it is off or runs
  2  if there is none of that NAME
  4  if the NAME's file is broken`,
		ValidArgsFunction: a.complete(kindAutomation),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name := ""
		if len(args) > 0 {
			name = automation.Scoped(args[0], rig)
		} else if rig != "" {
			return exit.Usage("--rig needs the NAME of an automation")
		}
		return a.check(cmd.Context(), name)
	}
	c.Flags().StringVar(&rig, "rig", "", "the one of this rig")
	return c
}

// due is the answer of a check about one automation.
type due struct {
	Name   string               `json:"name"`
	Due    bool                 `json:"due"`
	State  city.AutomationState `json:"state"`
	Reason string               `json:"reason"`
}

// dueOf answers for one automation. The reason of one that runs is why its run began, which alone would read as a
// reason to be due.
func (a *app) dueOf(i *city.Automation) due {
	d := due{i.Name, i.State == city.AutomationDue, i.State, i.Reason}
	if i.State == city.AutomationRunning {
		d.Reason = "running"
		if i.Since != nil {
			d.Reason += " for " + a.Age(*i.Since)
		}
		d.Reason += "; it began because: " + i.Reason
	}
	return d
}

func (a *app) check(ctx context.Context, name string) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	s, err := l.Snapshot(ctx)
	if err != nil {
		return err
	}
	items := s.Automations
	if name != "" {
		f, err := l.resolve(ctx, name, kindAutomation)
		switch {
		case exit.HasCode(err, city.NotFound):
			return &exit.Failure{Code: exit.CodeUsage, Err: err} // 1 is an answer
		case err != nil:
			return err
		case f.automation.State == city.AutomationBroken:
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("%s is broken: %s", f.automation.Name, f.automation.Reason)}
		}
		items = []city.Automation{*f.automation}
	}
	if b := unattended(l.Control); b != nil {
		if items, err = b.checkAll(ctx, items); err != nil {
			return err
		}
	}
	answers := make([]due, 0, len(items))
	for _, i := range items {
		answers = append(answers, a.dueOf(&i))
	}
	return a.tellDue(answers)
}

// unattended is the city without a controller that a control is, nil if one runs.
func unattended(c city.Control) *aside {
	if r, ok := c.(readOnly); ok {
		c = r.Control
	}
	b, _ := c.(*aside)
	return b
}

func (a *app) tellDue(answers []due) error {
	var err error
	if a.JSON {
		err = a.WriteJSON(output.ListOf(answers))
	} else {
		rows := make([][]output.Cell, 0, len(answers))
		for _, d := range answers {
			is := output.Tinted("no", output.Dim)
			if d.Due {
				is = output.Tinted("yes", output.Green)
			}
			rows = append(rows, []output.Cell{is, output.Tinted(d.Name, output.Bold),
				output.Plain(cutWhy(shortReason(d.Reason)))})
		}
		if len(rows) > 0 {
			err = a.Table(a.Out, a.Columns(), []string{"DUE", "AUTOMATION", "WHY"}, rows)
		} else {
			a.Sayf("no automations")
		}
	}
	if err == nil && !slices.ContainsFunc(answers, func(d due) bool { return d.Due }) {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}
