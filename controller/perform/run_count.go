package perform

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/mail"
)

type tally struct {
	pools []string
	by    map[string]scopeTally

	work  *city.Work
	rigs  map[string]city.RigWork
	tasks map[string]string
	gated map[string]string
	held  map[string]effect.Holding
	mail  city.MailTally
}

type scopeTally struct {
	version uint64 // of the store; 0 = unknown
	work    city.Work
	tasks   map[string]beads.Bead // newest bead in progress, by assignee
	gates   map[string]string
	held    map[string]effect.Holding // unfinished work, by assignee
	mail    city.MailTally
}

func (wr *workRunner) count(ctx context.Context, f effect.CountWork) effect.Input {
	t, scopes := &wr.tally, wr.Stores.scopes()
	if !slices.Equal(t.pools, f.Pools) || t.by == nil {
		*t = tally{pools: f.Pools, by: map[string]scopeTally{}}
	}
	maps.DeleteFunc(t.by, func(scope string, _ scopeTally) bool {
		return !slices.Contains(scopes, scope)
	})
	wr.Stores.guards.Keep(scopes)
	in := effect.WorkCounted{Work: city.Work{Pools: map[string]int{}},
		Rigs: map[string]city.RigWork{}, Held: map[string]effect.Holding{}, Mail: city.MailTally{}}
	newest, gates := map[string]beads.Bead{}, map[string]string{}
	for _, scope := range scopes {
		if err := wr.countScope(ctx, scope, t); err != nil && in.Err == nil {
			in.Err = err
		}
		part, known := t.by[scope]
		in.Unknown = in.Unknown || !known
		for assignee, b := range part.tasks {
			keepLater(newest, assignee, b)
		}
		maps.Copy(gates, part.gates)
		for assignee, h := range part.held {
			in.Held[assignee] = in.Held[assignee].With(h)
		}
		in.Mail.Merge(part.mail)
		if known && scope != "" {
			in.Rigs[scope] = city.RigWork{Open: part.work.Open, InProgress: part.work.InProgress}
		}
		in.Work.Open += part.work.Open
		in.Work.Ready += part.work.Ready
		in.Work.InProgress += part.work.InProgress
		for pool, n := range part.work.Pools {
			in.Work.Pools[pool] += n
		}
	}
	in.Tasks, in.Gated = make(map[string]string, len(newest)), map[string]string{}
	for assignee, b := range newest {
		in.Tasks[assignee] = taskText(b)
		if gate := gates[b.ID]; gate != "" {
			in.Gated[assignee] = gate
		}
	}
	if in.Unknown {
		// the machine uses parts of this count, so the next complete one must not be Unchanged
		t.work = nil
		return in
	}
	in.Unchanged = t.work != nil && maps.Equal(t.tasks, in.Tasks) &&
		maps.Equal(t.gated, in.Gated) && maps.Equal(t.rigs, in.Rigs) &&
		maps.Equal(t.mail, in.Mail) && maps.EqualFunc(t.held, in.Held, effect.Holding.Same) &&
		t.work.Same(in.Work)
	t.gated = in.Gated
	t.work, t.tasks, t.held, t.rigs, t.mail = &in.Work, in.Tasks, in.Held, in.Rigs, in.Mail
	return in
}

func (wr *workRunner) countScope(ctx context.Context, scope string, t *tally) error {
	store, err := wr.Stores.Store(scope)
	if err != nil {
		return err
	}
	version, err := store.Version(ctx)
	before, known := t.by[scope]
	switch {
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		return err
	case known && before.version == version:
		return nil
	}
	now, err := countByCounters(ctx, store, t.pools)
	if errors.Is(err, errors.ErrUnsupported) {
		now, err = countByQuery(ctx, store, t.pools)
	}
	if err != nil {
		return err
	}
	now.version = version
	t.by[scope] = now
	return nil
}

func countByQuery(ctx context.Context, store beads.Store, pools []string) (scopeTally, error) {
	now := scopeTally{work: city.Work{Pools: map[string]int{}}, tasks: map[string]beads.Bead{},
		held: map[string]effect.Holding{}, mail: city.MailTally{}}
	none := city.NotWork()
	all, err := store.List(ctx, beads.Query{Status: beads.Unclosed(), Limit: -1})
	if err != nil {
		return now, err
	}
	for _, pool := range pools {
		now.work.Pools[pool] = 0
	}
	var begun, waiting []beads.Bead
	for _, b := range all {
		isWork := !slices.Contains(none, b.Type)
		for _, l := range b.Labels {
			pool, ok := strings.CutPrefix(l, city.PoolLabel)
			if _, known := now.work.Pools[pool]; ok && known && isWork {
				now.work.Pools[pool]++
			}
		}
		switch {
		case b.Type == mail.Type:
			now.mail.Add(b)
		case !isWork:
		case b.Status == beads.StatusOpen:
			now.work.Open++
			waiting = append(waiting, b)
		default:
			begun = append(begun, b)
			now.work.InProgress++
			if b.Assignee != "" {
				keepLater(now.tasks, b.Assignee, b)
			}
		}
	}
	if now.work.Open > 0 { // a store can hold back open work, like bd's blocked work
		ready, err := store.List(ctx, beads.Query{Ready: true, NotType: none, Limit: -1})
		if err != nil {
			return now, err
		}
		now.work.Ready = len(ready)
	}
	now.gates = blocked(now.tasks, city.GatesIn(all))
	hold(now.held, begun)
	hold(now.held, waiting)
	return now, nil
}

func countByCounters(ctx context.Context, store *guard.Store, pools []string) (scopeTally, error) {
	now := scopeTally{work: city.Work{Pools: map[string]int{}}, held: map[string]effect.Holding{}}
	var err error
	none := city.NotWork()
	open, moving := beads.StatusOpen, beads.StatusInProgress
	// first, so that work that starts in the meantime is counted twice rather than missed
	for _, pool := range pools {
		q := beads.Query{Status: []beads.Status{open, moving},
			NotType: none, Labels: []string{city.PoolLabel + pool}}
		if now.work.Pools[pool], err = store.Count(ctx, q); err != nil {
			return now, err
		}
	}
	if now.work.Open, err = store.Count(ctx, beads.Query{Status: []beads.Status{open},
		NotType: none}); err != nil {
		return now, err
	}
	if now.work.InProgress, err = store.Count(ctx,
		beads.Query{Status: []beads.Status{moving}, NotType: none}); err != nil {
		return now, err
	}
	if now.work.InProgress > 0 {
		if now.tasks, err = tasks(ctx, store, now.held); err != nil {
			return now, err
		}
		gates, err := city.GatesFor(ctx, store.List, slices.Collect(maps.Values(now.tasks)))
		if err != nil {
			return now, err
		}
		now.gates = blocked(now.tasks, gates)
	}
	if now.work.Open > 0 {
		if now.work.Ready, err = store.Count(ctx,
			beads.Query{Ready: true, NotType: none}); err != nil {
			return now, err
		}
		given, err := store.List(ctx, beads.Query{Status: []beads.Status{open}, Assigned: true,
			NotType: none, Limit: maxTasks})
		if err != nil {
			return now, err
		}
		hold(now.held, given)
	}
	if now.mail, err = city.TallyMail(ctx, store); err != nil {
		return now, err
	}
	return now, nil
}

// maxTaskText is in bytes.
const (
	maxTasks    = 1000
	maxTaskText = 200
)

func tasks(ctx context.Context, store beads.Store, held map[string]effect.Holding) (
	map[string]beads.Bead, error) {
	all, err := store.List(ctx, beads.Query{Status: []beads.Status{beads.StatusInProgress},
		NotType: city.NotWork(), Limit: maxTasks})
	if err != nil {
		return nil, err
	}
	hold(held, all)
	out := map[string]beads.Bead{}
	for _, b := range all {
		if b.Assignee != "" {
			keepLater(out, b.Assignee, b)
		}
	}
	return out, nil
}

func keepLater(of map[string]beads.Bead, assignee string, b beads.Bead) {
	have, known := of[assignee]
	if !known || b.UpdatedAt.After(have.UpdatedAt) || b.UpdatedAt.Equal(have.UpdatedAt) &&
		b.ID < have.ID {
		of[assignee] = b
	}
}

func blocked(tasks map[string]beads.Bead, gates city.Gates) map[string]string {
	out := map[string]string{}
	for _, b := range tasks {
		if gate, ok := gates.Block(b); ok {
			out[b.ID] = taskText(gate)
		}
	}
	return out
}

func taskText(b beads.Bead) string {
	text := b.ID + " " + b.Title
	if len(text) > maxTaskText {
		text = strings.ToValidUTF8(text[:maxTaskText], "")
	}
	return text
}

func hold(of map[string]effect.Holding, all []beads.Bead) {
	for _, b := range all {
		if h := of[b.Assignee]; b.Assignee != "" {
			of[b.Assignee] = h.With(effect.Holding{IDs: []string{b.ID}, N: 1})
		}
	}
}
