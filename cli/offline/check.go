package offline

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/internal/shell"
)

// checksAtOnce is the maximum number of conditions that are checked at the same time.
const checksAtOnce = 8

// CheckAll evaluates automations again, and runs the checks of their conditions.
func (b *City) CheckAll(ctx context.Context, items []city.Automation) ([]city.Automation, error) {
	found, _ := b.scan() // the snapshot already contains the errors of the scan
	out := slices.Clone(items)
	var g errgroup.Group
	g.SetLimit(checksAtOnce)
	for i := range out {
		at := slices.IndexFunc(found.Automations,
			func(d automation.Definition) bool { return d.Scoped() == out[i].Name })
		if at < 0 || found.Automations[at].Gate != automation.Condition ||
			out[i].State == city.AutomationOff {
			continue
		}
		d := found.Automations[at]
		g.Go(func() error {
			item, _, err := b.judge(ctx, d, b.ask(ctx, d))
			if err == nil {
				item.Reason += "; no controller is running"
				out[i] = item
			}
			return err
		})
	}
	return out, g.Wait()
}

// ask runs the check of a condition once.
func (b *City) ask(ctx context.Context, d automation.Definition) automation.CheckFacts {
	ctx, cancel := context.WithTimeoutCause(ctx, d.CheckTimeout,
		fmt.Errorf("the check did not finish within check_timeout = %s", d.CheckTimeout))
	defer cancel()
	f := automation.CheckFacts{Asked: b.now(), Done: true, Fresh: true}
	dir, env, err := folder.RunPlace(b.config, d)
	err = cmp.Or(b.grant.Err(), err)
	var res shell.Result
	if err == nil {
		res, err = shell.Run(ctx, shell.Line{Text: d.Check, Dir: dir,
			Env: append(env, "GC_RUN="+b.Dir+":look:"+rand.Text())})
	}
	f.Code = res.Code
	switch {
	case ctx.Err() != nil:
		f.Err = context.Cause(ctx).Error()
	case err != nil:
		f.Err = err.Error()
	}
	return f
}
