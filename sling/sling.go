// Package sling decides which agent or pool receives work, and assigns it. It does not need a controller.
package sling

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/formula"
	"gcity/internal/screen"
	"gcity/internal/shell"
)

const slingLimit = 30 * time.Second

const changeTries = 8

// Slinger assigns work to agents and pools. Its fields must not change after the first use.
type Slinger struct {
	Config *config.City
	City   *city.Snapshot
	Host   agent.Host
	Scopes []string // scopes with a store: "" = the city, otherwise a rig
	Store  func(rig string) (beads.Store, error)
	// FindFormula returns the formula with this name in a rig, or in the city if rig is ""
	FindFormula func(name, rig string) (*formula.Formula, error)
	// MayRun returns an error if the user must first trust a changed program of the agent; nil = all may run
	MayRun func(ctx context.Context, agent string) error
}

// Result is the result of assigning work.
type Result struct {
	Bead    beads.Bead
	Events  []events.Event // for the changes, in order; empty = nothing has changed
	Message string

	created []createdBeads
}

type createdBeads struct {
	root beads.Bead // as it was created
	// previous version of the bead that the molecule belongs to; zero = none
	of    beads.Bead
	store beads.Store
	rig   string // rig of the store; "" = the city
}

type assignee struct {
	agent, pool string
	rig         string
	by          *config.Agent // nil if the agent or pool was removed
	note        string
}

func (h *assignee) name() string { return cmp.Or(h.agent, h.pool) }

// Sling assigns the requested work. If that fails, it closes the beads that it has created. Errors that the user can
// correct are of type *city.Error.
func (s *Slinger) Sling(ctx context.Context, req city.SlingRequest) (out Result, err error) {
	if err := req.Check(); err != nil {
		return Result{}, err
	}
	if req.Bead != "" {
		err = s.dispatch(ctx, req, &out)
	} else {
		var to *assignee
		if to, err = s.target(req.Target); err == nil {
			err = s.make(ctx, req, to, &out)
		}
	}
	if err != nil && len(out.created) > 0 {
		err = out.undo(ctx, req, err)
	}
	return out, err
}

func (s *Slinger) dispatch(ctx context.Context, req city.SlingRequest, out *Result) error {
	var to *assignee
	var noTarget error
	if req.Target != "" {
		to, noTarget = s.target(req.Target)
	}
	f, err := s.find(ctx, req.Bead)
	if e, wrong := errors.AsType[*city.Error](err); noTarget != nil && wrong &&
		e.Code == city.NotFound {
		return &city.Error{Code: city.NotFound, Message: noTarget.Error() + "; and " + e.Message}
	}
	if err = cmp.Or(noTarget, err); err != nil {
		return err
	}
	if to == nil {
		if f.rig == "" {
			return city.Errorf(city.Invalid, "no target: %s belongs to the city; name an agent, a "+
				"pool or a rig", f.bead.ID)
		}
		if to, err = s.target(f.rig); err != nil {
			return err
		}
	}
	if err := checkAssignable(f.bead, to, req.Force); err != nil {
		return err
	}
	recipe := req.Formula
	if f.bead.Metadata[city.MoleculeKey] == "" {
		if recipe == "" && !req.NoFormula {
			recipe = to.defaultFormula()
		}
		if err := checkVars(req, recipe); err != nil {
			return err
		}
	} else if recipe != "" {
		if err := checkReplaceable(ctx, f); err != nil {
			return err
		}
	}
	molecule := ""
	if recipe != "" {
		if molecule, err = s.attach(ctx, f, recipe, job{req, to, out}); err != nil {
			return err
		}
	}
	return s.assign(ctx, f, molecule, job{req, to, out})
}

// checkReplaceable returns an error if a bead's molecule is open. If a new molecule replaced it, its steps would belong
// to no agent.
func checkReplaceable(ctx context.Context, f locatedBead) error {
	id := f.bead.Metadata[city.MoleculeKey]
	switch old, err := f.store.Get(ctx, id); {
	case errors.Is(err, beads.ErrNotFound):
		return nil
	case err != nil:
		return err
	case old.Status != beads.StatusClosed:
		return city.Errorf(city.Conflict, "%s already has the open molecule %s; to use another "+
			"formula, first run `gcity bead close %s --steps`", f.bead.ID, id, id)
	}
	return nil
}

func checkVars(req city.SlingRequest, recipe string) error {
	if recipe == "" && len(req.Vars) > 0 {
		return city.Errorf(city.Invalid, "variables require a formula")
	}
	return nil
}

type job struct {
	req city.SlingRequest
	to  *assignee
	out *Result
}

type locatedBead struct {
	bead  beads.Bead
	store beads.Store
	rig   string // rig of the store; "" = the city
}

func (s *Slinger) find(ctx context.Context, id string) (f locatedBead, err error) {
	if beads.CheckID(id) != nil {
		return f, city.WorkError(beads.NotFound(id))
	}
	var lost error
	for _, f.rig = range s.Scopes {
		f.store, err = s.Store(f.rig)
		if err == nil {
			f.bead, err = f.store.Get(ctx, id)
		}
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, beads.ErrNotFound) && lost == nil {
			lost = err
		}
	}
	if lost != nil {
		return f, city.ReadError(lost)
	}
	return f, city.WorkError(beads.NotFound(id))
}

func checkAssignable(b beads.Bead, to *assignee, force bool) error {
	conflict := func(format string, args ...any) error {
		return city.Errorf(city.Conflict, format, args...)
	}
	switch {
	case b.Type == city.ConvoyType:
		return conflict("%s is a convoy and cannot be assigned as work; assign its beads, which "+
			"`gcity convoy status %s` lists", b.ID, b.ID)
	case slices.Contains(city.NotWork(), b.Type):
		return conflict("%s is a %s and cannot be assigned as work", b.ID, b.Type)
	case b.Status == beads.StatusClosed:
		return conflict("%s is closed; run `gcity bead update %s --status open` to reopen it, or "+
			"create a new bead", b.ID, b.ID)
	case b.Assignee != "" && b.Assignee != to.agent && !force:
		return conflict("%s is assigned to %q and is %s; use --force to reassign it", b.ID,
			b.Assignee,
			b.Status)
	}
	return nil
}

func (s *Slinger) make(ctx context.Context, req city.SlingRequest, to *assignee,
	out *Result) error {
	store, err := s.Store(to.rig)
	if err != nil {
		return err
	}
	recipe, from := req.Formula, ""
	byDefault := recipe == "" && to.defaultFormula() != "" && !req.NoFormula
	own := func(b *beads.Bead) {
		switch {
		case to.query() != "", byDefault: // assigned later, so that no member claims it too early
		case to.pool != "":
			b.Labels = append(b.Labels, city.PoolLabel+to.pool)
		default:
			b.Assignee = to.agent
		}
		b.Title = cmp.Or(req.Title, b.Title)
		b.Description = cmp.Or(req.Description, b.Description)
	}
	if byDefault { // check the default formula before anything is created
		_, err = s.cook(to.defaultFormula(), to.rig,
			valuesFor(beads.Bead{ID: "new", Title: req.Title}, req))
	} else {
		err = checkVars(req, recipe)
	}
	if err != nil {
		return err
	}
	if recipe == "" {
		var b beads.Bead
		own(&b)
		out.Bead, err = store.Create(ctx, b)
	} else {
		from = ", made from formula " + recipe + ","
		out.Bead, err = s.molecule(ctx, store, moleculeOrder{recipe, to.rig, given(req.Vars), own})
	}
	if err != nil {
		return err
	}
	out.created = append(out.created, createdBeads{root: out.Bead, store: store, rig: to.rig})
	out.Events = append(out.Events, city.BeadEvent(nil, city.Located{Bead: out.Bead, Rig: to.rig},
		req.By, req.Depth))
	if byDefault {
		f := locatedBead{out.Bead, store, to.rig}
		molecule, err := s.attach(ctx, f, to.defaultFormula(), job{req, to, out})
		if err != nil {
			return err
		}
		return s.assign(ctx, f, molecule, job{req, to, out})
	}
	out.Message = fmt.Sprintf("handed %s%s to %s%s", out.Bead.ID, from, to.name(), to.note)
	return s.runSlingQuery(ctx, store, req, to, out)
}

func (s *Slinger) assign(ctx context.Context, f locatedBead, molecule string, j job) error {
	store, b, req, to, out := f.store, f.bead, j.req, j.to, j.out
	for try := range changeTries {
		was, err := store.Get(ctx, b.ID)
		if err == nil {
			err = checkAssignable(was, to, req.Force)
		}
		if err == nil && molecule != "" &&
			was.Metadata[city.MoleculeKey] != b.Metadata[city.MoleculeKey] {
			err = city.Errorf(city.Conflict, "another request has changed the molecule of %s; "+
				"run the command again", b.ID)
		}
		if err != nil {
			return err
		}
		p := beads.Patch{IfRev: &was.Rev}
		if to.query() == "" {
			p = to.patch(was)
		}
		if molecule != "" {
			p.SetMetadata = map[string]string{city.MoleculeKey: molecule}
		}
		out.Bead, err = store.Update(ctx, b.ID, p)
		if errors.Is(err, beads.ErrConflict) && try < changeTries-1 {
			continue
		}
		if err != nil {
			return err
		}
		out.Message = fmt.Sprintf("handed %s to %s%s", b.ID, to.name(), to.note)
		if e := city.BeadEvent(&was, city.Located{Bead: out.Bead, Rig: f.rig}, req.By,
			req.Depth); e.Type != "" {
			out.Events = append(out.Events, e)
		} else if to.query() == "" {
			out.Message = b.ID + " is already assigned to " + to.name() + to.note
		}
		break
	}
	return s.runSlingQuery(ctx, store, req, to, out)
}

func (h *assignee) query() string {
	if h.by == nil {
		return ""
	}
	return h.by.SlingQuery
}

func (h *assignee) defaultFormula() string {
	if h.by == nil {
		return ""
	}
	return h.by.DefaultSlingFormula
}

func (h *assignee) patch(was beads.Bead) beads.Patch {
	p := beads.Patch{Assignee: &h.agent, IfRev: &was.Rev}
	for _, l := range was.Labels {
		if pool, is := strings.CutPrefix(l, city.PoolLabel); is && pool != h.pool {
			p.RemoveLabels = append(p.RemoveLabels, l)
		}
	}
	if h.pool != "" {
		p.AddLabels = []string{city.PoolLabel + h.pool}
	}
	// members of a pool take only open work, and work in progress belongs to the previous assignee, if there was one
	if was.Status == beads.StatusInProgress && (h.agent == "" || was.Assignee != h.agent) {
		p.Status = new(beads.StatusOpen)
	}
	return p
}

func (s *Slinger) runSlingQuery(ctx context.Context, store beads.Store, req city.SlingRequest,
	to *assignee, out *Result) error {
	if to.query() == "" {
		return nil
	}
	failed := func(err error, output []byte) error {
		text := fmt.Sprintf("%s: agents.sling_query failed to assign %s to %s: %v",
			to.by.Origins["sling_query"], out.Bead.ID, to.name(), err)
		if said := strings.TrimSpace(screen.Excerpt(output)); said != "" {
			text += ": " + said
		}
		return &city.Error{Code: city.Unavailable, Message: text}
	}
	if s.MayRun != nil {
		if err := s.MayRun(ctx, to.by.Qualified()); err != nil {
			return failed(err, nil)
		}
	}
	dir, env, err := agent.CommandEnvironment(s.Config, to.rig, s.Host)
	if err != nil {
		return failed(err, nil)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, slingLimit,
		fmt.Errorf("the command did not finish within %s", slingLimit))
	defer cancel()
	env = append(slices.Clip(env), "GC_SLING_TARGET="+to.name(), "GC_SLING_BEAD="+out.Bead.ID,
		"GC_EVENT_DEPTH="+strconv.Itoa(req.Depth),
		"GC_PACK_DIR="+s.Config.ConfigDir(to.by.Origin), "GC_RUN="+s.Config.Path+":"+rand.Text())
	res, err := shell.Run(ctx, shell.Line{Text: strings.ReplaceAll(to.query(), "{}", out.Bead.ID),
		Dir: dir, Env: env})
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && res.Code != 0:
		err = fmt.Errorf("exit %d", res.Code)
	}
	if err != nil {
		return failed(err, res.Output)
	}
	// the command might have changed the bead, so read it again
	if b, err := store.Get(ctx, out.Bead.ID); err == nil {
		out.Bead = b
	}
	return nil
}
