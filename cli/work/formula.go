package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/describe"
	"gcity/events"
	"gcity/formula"
	"gcity/internal/suggest"
	"gcity/sling"
)

// FormulaCommand returns the formula command.
func FormulaCommand(e *env.Env) *cobra.Command {
	c := env.Group("formula", "List formulas, which are templates for work, and create "+
		"work from them", formulaList(e), formulaShow(e), formulaCook(e))
	c.Long = `formula shows a city's formulas: those built into gcity, those in the folder set by
dir in [formulas], and those of a rig. If several have the same name, the last one in
this order is used. "gcity help automations" describes how to write a formula.`
	return c
}

type listedFormula struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Rig         string   `json:"rig,omitempty"`
	Layer       string   `json:"layer"`
	Source      string   `json:"source"`
	Vars        []string `json:"vars,omitempty"` // the name of a required variable ends in !
	Steps       int      `json:"steps"`
	Problem     string   `json:"problem,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

func formulasOf(e *env.Env, rig string) (*config.City, []formula.Source, error) {
	dir, err := e.CityDir()
	if err != nil {
		return nil, nil, err
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		return nil, nil, err
	}
	if rig != "" && c.Rig(rig) == nil {
		return nil, nil, env.UnknownRig(rig, workstore.Places(c))
	}
	layers, err := folder.LayersOf(c)
	if err != nil {
		return nil, nil, err
	}
	layers = slices.DeleteFunc(layers, func(l formula.Layer) bool {
		return l.Rig != "" && l.Rig != rig
	})
	all, err := formula.Resolve(layers)
	return c, all, err
}

func formulaList(e *env.Env) *cobra.Command {
	var rig string
	c := &cobra.Command{
		Use: "list", Short: "List all formulas, with the errors in invalid ones",
		Aliases: []string{"ls"},
		RunE: func(_ *cobra.Command, _ []string) error {
			conf, all, err := formulasOf(e, rig)
			if err != nil {
				return err
			}
			listed := make([]listedFormula, 0, len(all))
			for _, s := range all {
				listed = append(listed, listedFormulaOf(s))
			}
			if e.JSON {
				return e.WriteJSON(output.ListOf(listed))
			}
			if err := printFormulas(e, listed); err != nil || rig != "" {
				return err
			}
			return printRigFormulas(e, conf)
		},
	}
	c.Flags().StringVar(&rig, "rig", "", "list the formulas that apply in this rig")
	return c
}

func listedFormulaOf(s formula.Source) listedFormula {
	r := listedFormula{Name: s.Name, Rig: s.Layer.Rig, Layer: s.Layer.Title, Source: s.Path}
	f, err := formula.Load(s.Path)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	unmet := f.RequiredVars()
	for _, v := range f.Vars {
		name := v.Name
		if slices.Contains(unmet, name) {
			name += "!"
		}
		r.Vars = append(r.Vars, name)
	}
	for _, w := range f.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	r.Description, r.Steps = f.Description, len(f.Steps)
	return r
}

func printFormulas(e *env.Env, listed []listedFormula) error {
	if len(listed) == 0 {
		e.Sayf("no formulas; create a file NAME%s in the folder set by dir in [formulas]",
			formula.Suffix)
		return nil
	}
	table := output.NewTable("FORMULA", "FROM", "STEPS", "VARS", "WHAT")
	for _, r := range listed {
		what := output.Tinted(cmp.Or(strings.Join(r.Warnings, " · "), r.Description), "")
		steps := fmt.Sprint(r.Steps)
		if r.Problem != "" {
			what, steps = output.Tinted(strings.ReplaceAll(r.Problem, "\n", " · "), output.Red), "-"
		}
		table.Add(output.Tinted(r.Name, output.Bold), r.Layer, steps, strings.Join(r.Vars, " "),
			what)
	}
	return e.Table(table)
}

func printRigFormulas(e *env.Env, c *config.City) error {
	var rigs []string
	for i := range c.Rigs {
		name := c.Rigs[i].Name
		own, err := formula.Resolve(slices.DeleteFunc(c.Layers(),
			func(l formula.Layer) bool { return l.Rig != name }))
		if err != nil {
			return err
		}
		if len(own) > 0 {
			rigs = append(rigs, fmt.Sprintf("%s has %d", name, len(own)))
		}
	}
	if len(rigs) > 0 {
		e.Sayf("\nformulas of rigs: %s; --rig NAME lists them",
			output.SafeLine(strings.Join(rigs, ", ")))
	}
	return nil
}

type formulaShape struct {
	listedFormula
	Version string        `json:"version,omitempty"`
	Given   []varShape    `json:"variables"`
	Plan    []formulaStep `json:"plan"`
}

type varShape struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`
	Default     string `json:"default,omitempty"`
}

type formulaStep struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Needs       []string `json:"needs,omitempty"`
}

func formulaShow(e *env.Env) *cobra.Command {
	var rig string
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a formula's variables and the work that it creates",
		RunE: func(_ *cobra.Command, args []string) error {
			conf, all, err := formulasOf(e, rig)
			if err != nil {
				return err
			}
			f, err := folder.FindFormula(conf, args[0], rig, all)
			if err != nil {
				return err
			}
			shape := formulaShape{Version: f.Version, Given: []varShape{}}
			for _, s := range all {
				if s.Path == f.Source {
					shape.listedFormula = listedFormulaOf(s)
				}
			}
			for _, v := range f.Vars {
				shape.Given = append(shape.Given,
					varShape{v.Name, v.Description, v.Required, v.Default})
			}
			for _, s := range f.Steps {
				shape.Plan = append(shape.Plan, formulaStep(s))
			}
			if e.JSON {
				return e.WriteJSON(shape)
			}
			return printFormula(e, f, shape)
		},
	}
	c.Flags().StringVar(&rig, "rig", "", "show the formula that applies in this rig")
	return c
}

func printFormula(e *env.Env, f *formula.Formula, s formulaShape) error {
	e.Sayf("%s is a formula with %s", e.Bold(s.Name),
		describe.Count(len(s.Plan), "step"))
	if s.Description != "" {
		e.Sayf("  %s", output.SafeLine(s.Description))
	}
	e.Fact("version", s.Version)
	e.Fact("from", s.Layer)
	e.Fact("file", s.Source)
	for _, w := range s.Warnings {
		e.Fact("warning", w)
	}
	if len(s.Given) > 0 {
		e.Sayf("\nvariables")
	}
	unmet := f.RequiredVars()
	for _, v := range s.Given {
		text := v.Description
		switch {
		case slices.Contains(unmet, v.Name):
			text += " (required)"
		case v.Default != "":
			text += fmt.Sprintf(" (default %q)", v.Default)
		}
		e.Fact(v.Name, strings.TrimSpace(text))
	}
	e.Sayf("")
	table := output.NewTable("STEP", "NEEDS", "TITLE")
	for _, st := range s.Plan {
		table.Add(output.Tinted(st.ID, output.Bold), strings.Join(st.Needs, " "), st.Title)
	}
	return e.Table(table)
}

type cooked struct {
	Root  beads.Bead   `json:"root"`
	Steps []beads.Bead `json:"steps"`
}

func formulaCook(e *env.Env) *cobra.Command {
	var (
		vars []string
		pool string
	)
	c := &cobra.Command{
		Use: "cook NAME", Short: "Create work from a formula: a root, and a bead for each step",
		Long: `cook creates a molecule: a bead of type molecule, and below it one bead for each
step. A step is ready when the steps that it needs are closed. If any bead cannot be
created, none are. With --pool the molecule is assigned to that pool, and the member
that claims it does the steps.`,
		Example: "  gcity formula cook release --var version=1.4 --pool worker",
	}
	c = depot.WithWork(e, c, true, func(ctx context.Context, d *depot.Store, args []string) error {
		conf, all, err := formulasOf(e, d.Rig)
		if err != nil {
			return err
		}
		f, err := folder.FindFormula(conf, args[0], d.Rig, all)
		if err != nil {
			return err
		}
		values, err := metadata(vars)
		if err != nil {
			return err
		}
		var labels []string
		if pool != "" {
			if pool, err = poolNamed(pool, d.Rig, conf); err != nil {
				return err
			}
			labels = append(labels, city.PoolLabel+pool)
		}
		m, err := formula.Cook(f, values)
		if err != nil {
			return &exit.Failure{Code: exit.CodeUsage, Err: err}
		}
		made, err := createAll(ctx, e, d, sling.Molecule(m, labels))
		if err != nil {
			return err
		}
		if err := printCooked(e, made, pool); err != nil {
			return err
		}
		return depot.ReportChange(ctx, e, d, events.BeadCreated, made[0])
	})
	c.Flags().StringArrayVar(&vars, "var", nil,
		"a variable and its value, as NAME=VALUE; may be repeated")
	c.Flags().StringVar(&pool, "pool", "", "assign the work to this pool")
	return c
}

// createAll creates all beads or none, also if a signal ends the command. A second signal ends it immediately.
func createAll(ctx context.Context, e *env.Env, d *depot.Store, all []beads.Bead) ([]beads.Bead,
	error) {
	signals := []os.Signal{syscall.SIGTERM}
	// nohup ignores SIGHUP, and a shell script ignores SIGINT for commands in the background
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	ctx, quiet := signal.NotifyContext(ctx, signals...)
	defer quiet()
	_, oneByOne := d.Store.(beads.UndoLimiter)
	defer context.AfterFunc(ctx, func() {
		quiet()
		if oneByOne && errors.Is(ctx.Err(), context.Canceled) {
			e.Note("interrupted: closing the beads that were already created; a second " +
				"ctrl-c leaves them open")
		}
	})()
	return d.CreateAll(ctx, all)
}

func printCooked(e *env.Env, made []beads.Bead, pool string) error {
	if e.JSON {
		return e.WriteJSON(cooked{made[0], made[1:]})
	}
	forWhom := ""
	if pool != "" {
		forWhom = " for pool " + output.SafeLine(pool)
	}
	e.Sayf("cooked %s: %s, %s%s", e.Bold(made[0].ID),
		output.SafeLine(made[0].Title), describe.Count(len(made)-1, "step"), forWhom)
	ids := map[string]string{}
	for _, b := range made[1:] {
		ids[b.ID] = b.Ref
	}
	table := output.NewTable("ID", "STEP", "NEEDS", "TITLE")
	for _, b := range made[1:] {
		var needs []string
		for _, id := range b.Needs {
			needs = append(needs, ids[id])
		}
		table.Add(output.Tinted(b.ID, output.Bold), b.Ref,
			strings.Join(needs, " "), b.Title)
	}
	return e.Table(table)
}

func poolNamed(name, rig string, c *config.City) (string, error) {
	var all []string
	for i := range c.Agents {
		if c.Agents[i].Pool != nil {
			all = append(all, c.Agents[i].Qualified())
		}
	}
	for _, want := range []string{rig + "/" + name, name} {
		if slices.Contains(all, want) {
			return want, nil
		}
	}
	slices.SortFunc(all, city.CompareNames)
	return "", suggest.NotFound(suggest.Pool, name, all)
}
