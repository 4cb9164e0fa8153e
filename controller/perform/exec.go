package perform

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/formula"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/internal/span"
	"gcity/sling"
)

func (au *automations) carryOut(ctx context.Context, f effect.Run) effect.RunEnded {
	d := f.Run.Definition
	in := effect.RunEnded{Scoped: d.Scoped(), Bead: f.Bead, Outcome: automation.OK,
		Formula: d.Formula != ""}
	ctx, cancel := context.WithTimeoutCause(ctx, d.Timeout, errors.New(d.TimedOut()))
	defer cancel()
	defer au.Live.Finish(f.Bead)
	err := au.exec(ctx, f, &in)
	switch {
	case err == nil && in.Created != "": // the molecule exists, so later errors are irrelevant
	case errors.Is(context.Cause(ctx), errStopped):
		in.Outcome, in.Problem, in.Code = automation.Interrupted, errStopped.Error(), nil
	case effect.IsCanceled(context.Cause(ctx)):
		in.Outcome, in.Problem, in.Code, in.Canceled = automation.Failed,
			context.Cause(ctx).Error(),
			nil, true
	case ctx.Err() != nil:
		in.Outcome, in.Problem, in.Code = automation.Failed, context.Cause(ctx).Error(), nil
		in.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
		if errors.Is(err, errUnresponsive) {
			in.Problem += ": " + err.Error()
		}
	case err != nil:
		in.Outcome, in.Problem = automation.Failed, err.Error()
	case in.Code != nil && *in.Code != 0:
		in.Outcome, in.Problem = automation.Failed, fmt.Sprintf("exit %d", *in.Code)
	}
	return in
}

var errUnresponsive = errors.New("does not respond")

func (au *automations) exec(ctx context.Context, f effect.Run, in *effect.RunEnded) error {
	if err := au.w.checkFolder(); err != nil {
		return err
	}
	if f.Run.Definition.Formula != "" {
		return au.cook(ctx, f, in)
	}
	dir, env, err := au.commandEnvironment(f.In, f.Run.Definition)
	if err != nil {
		return err
	}
	env = append(env, f.Run.Definition.Environment()...)
	env = append(env, "GC_RUN="+au.w.Dir+":"+f.Bead,
		"GC_EVENT_DEPTH="+strconv.Itoa(f.Run.Depth+1))
	if f.Run.Count > 0 {
		file, err := au.eventsFile(ctx, f)
		if err != nil {
			return err
		}
		defer disk.Remove(file)
		env = append(env, "GC_EVENT_COUNT="+strconv.Itoa(f.Run.Count),
			"GC_EVENT_SEQ="+strconv.FormatUint(f.Run.Until, 10), "GC_EVENTS_FILE="+file)
	}
	if by := f.Failed; by != nil {
		env = append(env, "GC_FAILED_AUTOMATION="+by.Automation, "GC_FAILED_RUN="+by.ID,
			"GC_FAILED_ERROR="+by.Error)
		if by.Code != nil {
			env = append(env, "GC_FAILED_CODE="+strconv.Itoa(*by.Code))
		}
	}
	d := f.Run.Definition
	line, ok := inBackground(ctx, au.base, "script of "+d.Scoped(), 0, func() string {
		return d.Command(dir, func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		})
	})
	if !ok {
		return fmt.Errorf("the script's folder %w", errUnresponsive)
	}
	res, err := shell.Run(ctx, shell.Line{Text: line, Dir: dir, Env: env,
		Tee: au.Live.open(f.Bead)})
	in.Output = screen.Excerpt(res.Output)
	if err != nil {
		return err
	}
	if res.Code < 0 {
		return errors.New("the script was killed by " + res.Signal)
	}
	in.Code = &res.Code
	return nil
}

func (au *automations) commandEnvironment(in *config.City, d automation.Definition) (string,
	[]string, error) {
	return agent.CommandEnvironment(in, d.Rig, au.w.Host)
}

// cook creates all beads or none. A retry uses the beads that an earlier attempt has created, if there are any.
func (au *automations) cook(ctx context.Context, f effect.Run, in *effect.RunEnded) error {
	d := f.Run.Definition
	recipe, err := au.findInBackground(ctx, f.In, d.Formula, d.Rig)
	if err != nil {
		return err
	}
	m, err := formula.Cook(recipe, d.Vars)
	if err != nil {
		return err
	}
	store, err := au.Stores.Store(d.Rig)
	if err != nil {
		return err
	}
	labels := []string{city.RunLabel + d.Scoped()}
	if d.Target() != "" {
		labels = append(labels, city.PoolLabel+d.Target())
	}
	if f.Run.Count > 0 {
		labels = append(labels, "seq:"+strconv.FormatUint(f.Run.Until, 10))
	}
	molecule := sling.Molecule(m, append(labels, wispLabel))
	molecule[0].Metadata = map[string]string{city.MadeBy: f.Bead,
		city.MadeSteps: strconv.Itoa(len(molecule) - 1)}
	root, found, err := au.madeEarlier(ctx, store, f, len(molecule)-1)
	if err != nil {
		return err
	}
	if !found {
		made, err := store.CreateAll(ctx, molecule)
		if err != nil {
			return err
		}
		root = made[0]
	}
	in.Created, in.Title, in.Rig = root.ID, root.Title, d.Rig
	return nil
}

// madeEarlier returns the molecule that an earlier attempt of the run created for the same events. The attempt did not
// report it if its time ran out while the store was creating the beads.
func (au *automations) madeEarlier(ctx context.Context, store beads.Store, f effect.Run,
	steps int) (root beads.Bead, found bool, err error) {
	if f.Run.Retry == 0 {
		return root, false, nil
	}
	records, err := au.Stores.Store("")
	if err != nil {
		return root, false, err
	}
	label := city.RunLabel + f.Run.Definition.Scoped()
	attempts, err := records.List(ctx, beads.Query{Type: city.RunType, Labels: []string{label},
		Limit: runsKept})
	if err != nil {
		return root, false, err
	}
	// records of runs that never started can be newer than the first attempt
	first := slices.IndexFunc(attempts, func(a beads.Bead) bool {
		run := city.RunOf(a)
		return run.Retry == 0 && run.Outcome != city.RunVoid
	})
	attempts = attempts[:first+1]
	q := beads.Query{Type: beads.TypeMolecule, Labels: []string{label}, Limit: f.Run.Retry}
	if f.Run.Count > 0 {
		q.Labels = append(q.Labels, "seq:"+strconv.FormatUint(f.Run.Until, 10))
	}
	made, err := store.List(ctx, q)
	if err != nil {
		return root, false, err
	}
	for _, b := range made {
		if b.Metadata[beads.CloseReason] == beads.PartlyCreated ||
			!slices.ContainsFunc(attempts, func(a beads.Bead) bool {
				return a.ID == b.Metadata[city.MadeBy] && a.Metadata[city.RunMade] == ""
			}) {
			continue
		}
		all, err := store.List(ctx, beads.Query{Parent: b.ID, Limit: -1})
		if err != nil || len(all) >= steps {
			return b, err == nil, err
		}
	}
	return root, false, nil
}

const partLimit = 20 * time.Second

// closePartlyCreated closes the molecules of interrupted runs that lack steps. The controller can exit while a store of
// another program is creating the beads one by one. interrupted contains the records of the runs.
func (au *automations) closePartlyCreated(ctx context.Context, interrupted []beads.Bead) {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	for _, b := range interrupted {
		run := city.RunOf(b)
		if err := au.closeParts(ctx, &run); err != nil {
			au.w.Logger.Warn("work that an interrupted run has partly created might be open",
				"automation", run.Automation, "record", run.ID, "err", err)
		}
	}
}

func (au *automations) closeParts(ctx context.Context, run *city.Run) error {
	_, rig, _ := strings.Cut(run.Automation, ":rig:")
	store, err := au.Stores.Store(rig)
	if err != nil {
		return err
	}
	made, err := store.List(ctx, beads.Query{Type: beads.TypeMolecule, Status: beads.Unclosed(),
		Labels: []string{city.RunLabel + run.Automation}, Limit: -1})
	if err != nil {
		return err
	}
	for _, root := range made {
		want, err := strconv.Atoi(root.Metadata[city.MadeSteps])
		if err != nil || root.Metadata[city.MadeBy] != run.ID {
			continue
		}
		all, err := store.List(ctx, beads.Query{Parent: root.ID, Limit: -1})
		if err != nil {
			return err
		}
		if len(all) >= want {
			continue
		}
		closing := beads.Closing()
		closing.SetMetadata = map[string]string{beads.CloseReason: beads.PartlyCreated}
		for _, b := range append([]beads.Bead{root}, all...) {
			if b.Status == beads.StatusClosed {
				continue
			}
			if _, err := store.Update(ctx, b.ID, closing); err != nil {
				return err
			}
		}
	}
	return nil
}

func (au *automations) findInBackground(ctx context.Context, in *config.City, name,
	rig string) (*formula.Formula, error) {
	type result struct {
		found *formula.Formula
		err   error
	}
	key := "formula " + automation.Scoped(name, rig)
	r, ok := inBackground(ctx, au.base, key, 0, func() (r result) {
		r.found, r.err = au.findFormula(in, name, rig)
		return r
	})
	if !ok {
		return nil, fmt.Errorf("the formula's folder %w", errUnresponsive)
	}
	return r.found, r.err
}

func (au *automations) findFormula(in *config.City, name, rig string) (*formula.Formula, error) {
	layers := []formula.Layer{}
	if system, err := formula.System(filepath.Join(au.w.Dir, ".gc")); err == nil {
		layers = append(layers, system)
	}
	found, err := formula.Resolve(append(layers, layersFor(rig, in.Layers())...))
	if err != nil {
		return nil, err
	}
	return formula.Find(name, found)
}

func (au *automations) condition(f effect.CheckCondition) {
	select {
	case au.state.conditions <- struct{}{}:
	case <-au.ctx.Done():
		return
	}
	defer func() { <-au.state.conditions }()
	au.deliver(au.checkCondition(au.ctx, f))
}

func (au *automations) checkCondition(ctx context.Context,
	f effect.CheckCondition) effect.ConditionChecked {
	d := f.Of
	limit := cmp.Or(d.CheckTimeout, automation.CheckTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("timed out after check_timeout = %s", span.Text(limit)))
	defer cancel()
	in := effect.ConditionChecked{Scoped: d.Scoped(), Check: d.Check, Code: -1}
	dir, env, err := au.commandEnvironment(f.In, d)
	if err == nil {
		err = au.w.checkFolder()
	}
	if err == nil {
		err = au.prepareCheckFolder(ctx, dir, false)
	}
	if err == nil {
		var res shell.Result
		env = append(env, d.Environment()...)
		env = append(env, "GC_RUN="+au.w.Dir+":"+rand.Text())
		res, err = shell.Run(ctx, shell.Line{Text: d.Check, Dir: dir, Env: env})
		in.Code = res.Code
		if err == nil && res.Code < 0 {
			err = errors.New("check was killed by " + res.Signal)
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		in.Err = err.Error()
	}
	return in
}

type activeRuns struct {
	mu   sync.Mutex
	ends map[string]context.CancelCauseFunc // by record ID
}

func (g *activeRuns) add(ctx context.Context, bead string) (_ context.Context, done func()) {
	ctx, end := context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ends[bead] = end
	return ctx, func() {
		end(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.ends, bead)
	}
}

func (g *activeRuns) end(bead string, why error) {
	g.mu.Lock()
	end := g.ends[bead]
	g.mu.Unlock()
	if end != nil {
		end(why)
	}
}
