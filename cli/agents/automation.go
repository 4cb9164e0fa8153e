package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/internal/shell"
	"gcity/internal/suggest"
)

// AutomationCommand returns the automation command.
func AutomationCommand(e *env.Env) *cobra.Command {
	c := env.Group("automation", "List automations, run them, show their runs",
		automationList(e), automationShow(e), automationCheck(e), automationRun(e),
		automationStop(e), automationLogs(e), automationHistory(e))
	c.Long = `automation shows and runs automations: commands or work that start on a schedule or
after events. Each automation is defined in a file automations/NAME/automation.toml
in the folder set by dir in [formulas] (.gc/formulas by default), for example

  [automation]
  gate     = "cooldown"      # or cron, condition, event, manual
  interval = "10m"
  exec     = "date >> ticks" # or formula = "NAME"

"gcity help automations" describes all gates and keys. The full name of a rig's
automation is NAME:rig:RIG. The NAME alone is enough if it is unique, or with --rig.`
	return c
}

const rigHelp = "use this rig's automation"

type namedAutomation struct {
	l    *env.Link
	s    *city.Snapshot
	item *city.Automation
}

func forAutomation(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, n namedAutomation) error) *cobra.Command {
	return forUnreadAutomation(e, c, func(ctx context.Context, n namedAutomation, err error) error {
		if err != nil {
			return err
		}
		return run(ctx, n)
	})
}

// forUnreadAutomation passes the error to run if the automation is not found. The item then has only a name. The
// controller might not have read the automation's file yet, so a request can still succeed.
func forUnreadAutomation(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, n namedAutomation, err error) error) *cobra.Command {
	var rig string
	c.Flags().StringVar(&rig, "rig", "", rigHelp)
	c.ValidArgsFunction = env.Complete(e, suggest.Automation)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := e.Open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.Close()
		name := automation.Scoped(args[0], rig)
		f, err := l.Resolve(cmd.Context(), name, suggest.Automation)
		if f.Snapshot == nil {
			return err
		}
		if err != nil {
			f.Automation = &city.Automation{Name: name}
		}
		return run(cmd.Context(), namedAutomation{l, f.Snapshot, f.Automation}, err)
	}
	return c
}

func automationList(e *env.Env) *cobra.Command {
	return listCommand(e, "List all automations, including broken and disabled ones, with the "+
		"state of their gates", func(l *env.Link, s *city.Snapshot) error {
		switch {
		case e.JSON:
			return e.WriteJSON(output.ListOf(s.Automations))
		case len(s.Automations) == 0:
			e.Sayf("no automations; these commands create one, and the controller reads it "+
				"immediately:\n\n%s", firstAutomation(l.Dir))
			return nil
		}
		return writeAutomations(e, s.Automations, l.Live)
	})
}

func firstAutomation(dir string) string {
	under := filepath.Join(dir, ".gc", "formulas", automation.Folder, "tick")
	if c, err := folder.LoadCity(dir); err == nil {
		for _, l := range c.Layers() {
			if l.Rig == "" && l.Root == "" {
				under = filepath.Join(l.Dir, automation.Folder, "tick")
			}
		}
	}
	return fmt.Sprintf("  mkdir -p %s\n  printf '[automation]\\ngate = \"cooldown\"\\ninterval = "+
		"\"10m\"\\nexec = \"date >> ticks\"\\n' > %s\n\n`gcity help automations` describes all "+
		"gates and keys",
		shell.Quote(under), shell.Quote(filepath.Join(under, automation.FileName)))
}

func automationShow(e *env.Env) *cobra.Command {
	return forAutomation(e, &cobra.Command{Use: "show NAME",
		Short: "Show all details of an automation, with its latest runs"},
		func(ctx context.Context, n namedAutomation) error {
			if e.JSON {
				return e.WriteJSON(n.item)
			}
			e.Sayf("%s", automationStanding(e, n.item))
			if n.item.Description != "" {
				e.Sayf("  %s", output.SafeLine(n.item.Description))
			}
			automationFacts(e, n.item, n.l)
			runs, err := pastRuns(ctx, e, n.l.Dir, n.item.Name, 5)
			if err != nil || len(runs) == 0 {
				return err
			}
			e.Sayf("")
			return writeRuns(e, runs, false)
		})
}

func pastRuns(ctx context.Context, e *env.Env, dir, name string, limit int) (_ []city.Run,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	all, err := depot.PlacesIn(ctx, e, dir)
	if err != nil {
		return nil, err
	}
	s, err := e.Store(all[0])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := s.List(ctx, offline.RunsOf(name, limit))
	if err != nil {
		return nil, fmt.Errorf("cannot read the runs of %s: %w", cmp.Or(name, "all automations"),
			depot.WorkProblem(err))
	}
	runs := make([]city.Run, 0, len(records))
	for _, r := range records {
		runs = append(runs, city.RunOf(r))
	}
	return runs, nil
}

func automationHistory(e *env.Env) *cobra.Command {
	var (
		rig   string
		limit = 20
	)
	c := &cobra.Command{
		Use: "history [NAME]", Short: "List the runs of one automation or of all, newest " +
			"first, including those of removed automations",
		ValidArgsFunction: env.Complete(e, suggest.Automation),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return historyOfAll(cmd.Context(), e, rig, cmp.Or(limit, -1))
			}
			return history(cmd.Context(), e, automation.Scoped(args[0], rig), cmp.Or(limit, -1))
		},
	}
	c.Flags().StringVar(&rig, "rig", "", "use this rig's automation; without a NAME: list the "+
		"runs of this rig's automations")
	c.Flags().VarP(env.Number(&limit, 0), "limit", "n", "print at most this many runs, 0 = all")
	return c
}

func history(ctx context.Context, e *env.Env, name string, limit int) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	f, unknown := l.Resolve(ctx, name, suggest.Automation)
	if unknown == nil {
		name = f.Automation.Name
	}
	runs, err := pastRuns(ctx, e, l.Dir, name, limit)
	switch {
	case err != nil:
		return err
	case unknown != nil && len(runs) == 0:
		return unknown
	}
	return writeHistory(e, runs, false, name+" has never run")
}

// historyOfAll prints the runs of all automations, or of a rig's automations.
func historyOfAll(ctx context.Context, e *env.Env, rig string, limit int) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	if rig == "" {
		runs, err := pastRuns(ctx, e, l.Dir, "", limit)
		if err != nil {
			return err
		}
		return writeHistory(e, runs, true, "no automation has run yet")
	}
	runs, err := pastRuns(ctx, e, l.Dir, "", -1) // the stores cannot search by rig
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r city.Run) bool {
		return !strings.HasSuffix(r.Automation, automation.Scoped("", rig))
	})
	if len(runs) == 0 {
		if _, err := l.Resolve(ctx, rig, suggest.Rig); err != nil {
			return err
		}
	}
	if limit > 0 {
		runs = runs[:min(len(runs), limit)]
	}
	return writeHistory(e, runs, true, "no automation of rig "+rig+" has run yet")
}

// writeHistory prints runs, or the text empty if the list is empty.
func writeHistory(e *env.Env, runs []city.Run, named bool, empty string) error {
	switch {
	case e.JSON:
		return e.WriteJSON(output.ListOf(runs))
	case len(runs) == 0:
		e.Sayf("%s", output.SafeLine(empty))
		return nil
	}
	return writeRuns(e, runs, named)
}

func automationCheck(e *env.Env) *cobra.Command {
	var rig string
	c := &cobra.Command{
		Use: "check [NAME]", Short: "Check whether an automation is due: exit 0 if so, 1 if not",
		Long: `check prints whether the automation is due. Without a NAME it checks all automations.
If a controller is running, check prints the result of the controller's last pass.
Otherwise it evaluates the gates from the records of earlier runs, and runs the check
commands of condition gates. It does not start any automation. Exit codes:

  0  the automation is due; without NAME: at least one automation is due
  1  not due, disabled, or running
  2  no automation has that NAME
  4  the automation's file is broken`,
		ValidArgsFunction: env.Complete(e, suggest.Automation),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name := ""
		if len(args) > 0 {
			name = automation.Scoped(args[0], rig)
		} else if rig != "" {
			return exit.Usage("--rig needs the NAME of an automation as well")
		}
		return check(cmd.Context(), e, name)
	}
	c.Flags().StringVar(&rig, "rig", "", rigHelp)
	return c
}

type due struct {
	Name   string               `json:"name"`
	Due    bool                 `json:"due"`
	State  city.AutomationState `json:"state"`
	Reason string               `json:"reason"`
}

// A running automation's reason says only why the run started, so dueOf adds that it is running.
func dueOf(e *env.Env, i *city.Automation) due {
	d := due{i.Name, i.State == city.AutomationDue, i.State, i.Reason}
	if i.State == city.AutomationRunning {
		d.Reason = "running"
		if i.Since != nil {
			d.Reason += " for " + e.Age(*i.Since)
		}
		d.Reason += "; reason for the start: " + i.Reason
	}
	return d
}

func check(ctx context.Context, e *env.Env, name string) error {
	l, s, err := e.OpenSnapshot(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	items := s.Automations
	if name != "" {
		f, err := l.Resolve(ctx, name, suggest.Automation)
		switch {
		case err != nil:
			return err
		case f.Automation.State == city.AutomationBroken:
			return city.Errorf(city.Conflict, "%s is broken: %s", f.Automation.Name,
				f.Automation.Reason)
		}
		items = []city.Automation{*f.Automation}
	}
	if b := offlineCity(l.Control); b != nil {
		if items, err = b.CheckAll(ctx, items); err != nil {
			return err
		}
	}
	results := make([]due, 0, len(items))
	for _, i := range items {
		results = append(results, dueOf(e, &i))
	}
	return printDue(e, results)
}

func offlineCity(c city.Control) *offline.City {
	if r, ok := c.(env.ReadOnly); ok {
		c = r.Control
	}
	b, _ := c.(*offline.City)
	return b
}

func printDue(e *env.Env, results []due) error {
	var err error
	if e.JSON {
		err = e.WriteJSON(output.ListOf(results))
	} else {
		table := output.NewTable("DUE", "AUTOMATION", "WHY")
		for _, d := range results {
			is := output.Tinted("no", output.Dim)
			if d.Due {
				is = output.Tinted("yes", output.Green)
			}
			table.Add(is, output.Tinted(d.Name, output.Bold), cutWhy(shortReason(d.Reason)))
		}
		if len(table.Rows) > 0 {
			err = e.Table(table)
		} else {
			e.Sayf("no automations")
		}
	}
	if err == nil && !slices.ContainsFunc(results, func(d due) bool { return d.Due }) {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}
