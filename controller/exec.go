package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/formula"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/sling"
)

// carryOut carries a run out to its end, its timeout, or the city's.
func (r *runner) carryOut(ctx context.Context, f fxRun) inRan {
	d := f.run.Definition
	in := inRan{scoped: d.Scoped(), bead: f.bead, outcome: automation.OK, formula: d.Formula != ""}
	ctx, cancel := context.WithTimeoutCause(ctx, d.Timeout, errors.New(d.TimedOut()))
	defer cancel()
	defer r.live.finish(f.bead)
	began := time.Now()
	err := r.exec(ctx, f, &in)
	in.took = time.Since(began)
	switch {
	case err == nil && in.made != "": // whatever has come since
	case errors.Is(context.Cause(ctx), errStopped):
		in.outcome, in.problem, in.code = automation.Interrupted, errStopped.Error(), nil
	case isHalted(context.Cause(ctx)):
		in.outcome, in.problem, in.code, in.halted = automation.Failed, context.Cause(ctx).Error(), nil, true
	case ctx.Err() != nil:
		in.outcome, in.problem, in.code = automation.Failed, context.Cause(ctx).Error(), nil
		in.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
		if errors.Is(err, errMute) {
			in.problem += ": " + err.Error()
		}
	case err != nil:
		in.outcome, in.problem = automation.Failed, err.Error()
	case in.code != nil && *in.code != 0:
		in.outcome, in.problem = automation.Failed, fmt.Sprintf("exit %d", *in.code)
	}
	return in
}

var errMute = errors.New("does not answer")

func (r *runner) exec(ctx context.Context, f fxRun, in *inRan) error {
	if err := r.home(); err != nil {
		return err
	}
	if f.run.Definition.Formula != "" {
		return r.cook(ctx, f, in)
	}
	dir, env, err := r.place(f.in, f.run.Definition)
	if err != nil {
		return err
	}
	env = append(env, "AUTOMATION_DIR="+f.run.Definition.Dir(), "GC_AUTOMATION="+f.run.Definition.Scoped(), "GC_RUN="+r.c.o.Dir+":"+f.bead,
		"GC_EVENT_DEPTH="+strconv.Itoa(f.run.Depth+1))
	if f.run.Count > 0 {
		file, err := r.eventsFile(ctx, f)
		if err != nil {
			return err
		}
		defer disk.Remove(file)
		env = append(env, "GC_EVENT_COUNT="+strconv.Itoa(f.run.Count), "GC_EVENT_SEQ="+strconv.FormatUint(f.run.Until, 10), "GC_EVENTS_FILE="+file)
	}
	if by := f.failed; by != nil {
		env = append(env, "GC_FAILED_AUTOMATION="+by.Automation, "GC_FAILED_RUN="+by.ID, "GC_FAILED_ERROR="+by.Error)
		if by.Code != nil {
			env = append(env, "GC_FAILED_CODE="+strconv.Itoa(*by.Code))
		}
	}
	line := ""
	if !r.aside(ctx, "script of "+f.run.Definition.Scoped(), 0, func() func() {
		found := f.run.Definition.Command(dir, func(path string) bool { _, err := os.Stat(path); return err == nil })
		return func() { line = found }
	}) {
		return fmt.Errorf("the folder of its script %w", errMute)
	}
	res, err := shell.Run(ctx, shell.Line{Text: line, Dir: dir, Env: env, Tee: r.live.open(f.bead)})
	in.output = screen.Excerpt(res.Output)
	if err != nil {
		return err
	}
	if res.Code < 0 {
		return errors.New("it was ended by a signal")
	}
	in.code = &res.Code
	return nil
}

// place is where an automation runs, and with what environment, by the configuration in force.
func (r *runner) place(in *config.City, d automation.Definition) (string, []string, error) {
	return agent.Place(in, d.Rig, r.c.o.Host)
}

// cook makes a formula's molecule in the store of the automation's scope, all of it or nothing.
func (r *runner) cook(ctx context.Context, f fxRun, in *inRan) error {
	d := f.run.Definition
	var recipe *formula.Formula
	var err error
	if !r.aside(ctx, "formula of "+d.Scoped(), 0, func() func() {
		found, failed := r.recipe(f.in, d)
		return func() { recipe, err = found, failed }
	}) {
		return fmt.Errorf("the folder of its formula %w", errMute)
	}
	if err != nil {
		return err
	}
	m, err := formula.Cook(recipe, d.Vars)
	if err != nil {
		return err
	}
	store, err := r.store(d.Rig)
	if err != nil {
		return err
	}
	labels := []string{city.RunLabel + d.Scoped()}
	if d.Target() != "" {
		labels = append(labels, city.PoolLabel+d.Target())
	}
	if f.run.Count > 0 {
		labels = append(labels, "seq:"+strconv.FormatUint(f.run.Until, 10))
	}
	made, err := store.CreateAll(ctx, sling.Molecule(m, append(labels, wispLabel)))
	if err != nil {
		return err
	}
	in.made, in.title = made[0].ID, made[0].Title
	return nil
}

// recipe finds the formula that an automation cooks, among the layers of its scope.
func (r *runner) recipe(in *config.City, d automation.Definition) (*formula.Formula, error) {
	layers := []formula.Layer{}
	if system, err := formula.System(filepath.Join(r.c.o.Dir, ".gc")); err == nil {
		layers = append(layers, system)
	}
	found, err := formula.Resolve(append(layers, layersFor(d.Rig, in.Layers())...))
	if err != nil {
		return nil, err
	}
	return formula.Find(d.Formula, found)
}

// condition runs an automation's check, within its time.
func (r *runner) condition(f fxCondition) {
	d := f.of
	select {
	case r.shop.conditions <- struct{}{}:
	case <-r.ctx.Done():
		return
	}
	defer func() { <-r.shop.conditions }()
	limit := cmp.Or(d.CheckTimeout, automation.CheckTimeout)
	ctx, cancel := context.WithTimeoutCause(r.ctx, limit, fmt.Errorf("it had not ended after check_timeout = %s", limit))
	defer cancel()
	in := inCondition{scoped: d.Scoped(), check: d.Check, code: -1}
	dir, env, err := r.place(f.in, d)
	if err == nil {
		err = r.home()
	}
	if err == nil {
		var res shell.Result
		env = append(env, "AUTOMATION_DIR="+d.Dir(), "GC_AUTOMATION="+d.Scoped(), "GC_RUN="+r.c.o.Dir+":"+rand.Text())
		res, err = shell.Run(ctx, shell.Line{Text: d.Check, Dir: dir, Env: env})
		in.code = res.Code
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		in.err = err.Error()
	}
	r.deliver(in)
}
