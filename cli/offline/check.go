package offline

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
)

// checksAtOnce is the maximum number of conditions that are checked at the same time.
const checksAtOnce = 8

// CheckAll runs the check commands of automations with a condition gate, and returns all items with the results.
func (b *City) CheckAll(ctx context.Context, items []city.Automation) ([]city.Automation, error) {
	found, _ := b.scan() // the snapshot already contains the errors from the scan
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

// ask runs a condition's check command once.
func (b *City) ask(ctx context.Context, d automation.Definition) automation.CheckFacts {
	f := automation.CheckFacts{Asked: b.now(), Done: true, Fresh: true}
	if err := b.grant.Err(); err != nil {
		f.Err = err.Error()
		return f
	}
	r := b.runner(nil)
	defer r.Cancel()
	in := r.Now(ctx, effect.CheckCondition{In: b.config, Of: d}).(effect.ConditionChecked)
	f.Code, f.Err = in.Code, in.Err
	return f
}
