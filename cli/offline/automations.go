package offline

import (
	"context"
	"slices"
	"strings"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/controller/effect"
	"gcity/events"
)

const pastRuns = 20

type automationReader struct {
	b      *City
	newest uint64
	asks   func(name string) bool
	found  automation.Catalog
}

func (r *automationReader) execute(ctx context.Context, f effect.Effect) effect.Input {
	if f, is := f.(effect.CheckCondition); is {
		return r.check(ctx, f)
	}
	ctx, cancel := context.WithTimeout(ctx, folder.ReadTimeout)
	defer cancel()
	switch f := f.(type) {
	case effect.Scan:
		var troubles []string
		r.found, troubles = folder.ScanFor(&r.b.scanner, r.b.config, r.b.now())
		return effect.Scanned{Catalog: r.found, Newest: r.newest,
			Trouble: strings.Join(troubles, "; ")}
	case effect.SweepRuns:
		return r.runs(ctx)
	case effect.Subscribe:
		page, err := r.b.History(ctx, events.Query{Types: f.Types, After: f.After, Forward: true,
			Limit: events.MaxLimit})
		if err != nil {
			return effect.SubscriptionEnded{Subscription: f.ID, Err: err}
		}
		return effect.EventsReceived{Subscription: f.ID, Events: page}
	}
	return nil
}

func (r *automationReader) runs(ctx context.Context) effect.Input {
	var in effect.RunsSwept
	for _, d := range r.found.Automations {
		records, err := r.b.stores[0].List(ctx, RunsOf(d.Scoped(), pastRuns))
		if err != nil {
			return effect.RunsSwept{Err: err}
		}
		for _, record := range records {
			in.Runs = append(in.Runs, city.RunOf(record))
		}
	}
	slices.SortStableFunc(in.Runs, func(a, b city.Run) int { return b.Opened.Compare(a.Opened) })
	return in
}

// check never runs a program of an untrusted city.
func (r *automationReader) check(ctx context.Context, f effect.CheckCondition) effect.Input {
	switch err := r.b.grant.Err(); {
	case r.asks == nil || !r.asks(f.Of.Scoped()):
		return nil
	case err != nil:
		return effect.ConditionChecked{Scoped: f.Of.Scoped(), Check: f.Of.Check, Code: -1,
			Err: err.Error()}
	}
	run := r.b.runner(nil)
	defer run.Cancel()
	return run.Now(ctx, f)
}

// CheckAll runs the check commands of automations with a condition gate.
func (b *City) CheckAll(ctx context.Context, items []city.Automation) ([]city.Automation, error) {
	s, err := b.observe(ctx, func(name string) bool {
		return slices.ContainsFunc(items, func(i city.Automation) bool { return i.Name == name })
	})
	if err != nil {
		return nil, err
	}
	out := slices.Clone(items)
	for i := range out {
		if checked, ok := s.Automation(out[i].Name); ok {
			out[i] = *checked
		}
	}
	return out, nil
}
