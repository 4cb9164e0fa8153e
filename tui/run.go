package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gcity/tui/terminal"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// Run shows the control room until the person leaves, ctx ends or the terminal is gone. Options.In and Out must be a
// terminal. It handles SIGHUP, SIGTERM and SIGINT while it runs, never ends the process, and leaves the terminal as it
// found it; where that takes no bytes any more, only its modes, and a goroutine is left behind that waits for it.
// With an error the Exit is Ended. After Hangup SIGHUP stays caught and without effect until the caller handles it.
func Run(ctx context.Context, o Options) (Exit, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Ended, err
	}
	if !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		return Ended, errors.New("the control room needs a terminal for input and output; gcity " +
			"--headless runs the city without one")
	}
	return run(ctx, o, terminal.NewScreen)
}

func run(ctx context.Context, o Options, fresh terminal.ScreenMaker) (Exit, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	box := newMailbox()
	r := &runner{ctx: ctx, city: o.City, box: box, log: o.Logger, config: o.Config, fail: cancel,
		clock: o.Clock, getenv: environment(o.Environ)}
	r.tmux = r.getenv("TMUX") != ""
	defer r.wait()
	defer cancel()
	r.spawn("signals", func(ctx context.Context) { r.signals(ctx, o.Interrupts) })
	t := newTour(r, o, fresh)
	if t.lookout != nil {
		r.spawn("cities", t.lookout.run)
	}
	r.spawn("preferences", func(ctx context.Context) { r.persons(ctx, o.Changes, t.putPerson) })

	before, err := term.GetState(o.In.Fd())
	if err != nil {
		return Ended, fmt.Errorf("cannot tell how the terminal is set: %w", err)
	}
	type outcome struct {
		exit Exit
		err  error
	}
	left := make(chan outcome, 1)
	// whoever writes to the terminal; it is left behind if that takes nothing any more
	var room sync.WaitGroup
	room.Go(func() {
		var end outcome
		defer func() {
			if p := recover(); p != nil {
				r.crashed("stretches", p)
				end.exit, end.err = r.whatEnded()
			}
			left <- end
		}()
		end.exit, end.err = stretches(ctx, r, t)
	})
	select {
	case end := <-left:
		return end.exit, end.err
	case <-ctx.Done():
	}
	select {
	case end := <-left:
		return end.exit, end.err
	case <-time.After(frozenGrace):
	}
	r.log.Error("the terminal takes no bytes; ending without it")
	if err := term.Restore(o.In.Fd(), before); err != nil {
		r.log.Error("the terminal's modes could not be restored", "error", err)
	}
	return r.whatEnded()
}

// frozenGrace is how long a terminal may take to show the last of a room that ends: longer than quitGrace, after
// which the screen's program is killed, and than programs have that the terminal was given to.
const frozenGrace = quitGrace + 2*time.Second

// stretches runs the program, and between two runs of it whoever is given the terminal, until the room ends.
func stretches(ctx context.Context, r *runner, t *tour) (Exit, error) {
	defer func() {
		for _, e := range keepMemory(t.here.m, true) {
			r.remember(t.here.keep, e.(remember))
		}
	}()
	for ctx.Err() == nil {
		next, err := stretch(ctx, r, t)
		if err != nil && ctx.Err() == nil {
			return Ended, errors.Join(err, r.failure())
		}
		if ctx.Err() != nil {
			break
		}
		m, own := t.here.m, t.here.r
		o := shared{in: t.o.In, out: t.o.Out, environ: t.o.Environ, leave: m.person.Detach}
		switch next := next.(type) {
		case finish:
			return next.exit, nil
		case attach:
			visitAgent(ctx, own, o, m, next.agent)
		case page:
			readText(ctx, own, o, m, next.text)
		case edit:
			editText(ctx, own, o, m, next)
		default:
			return Ended, nil
		}
	}
	return r.whatEnded()
}

// stretch runs the program once, up to the next attach or the end. Every stretch is a program of its own, so that the
// terminal is wholly given back in between.
func stretch(ctx context.Context, r *runner, t *tour) (effect, error) {
	o := t.o
	screen := &room{m: t.here.m, r: t.here.r, keep: t.here.keep, tour: t}
	opts := []tea.ProgramOption{
		tea.WithInput(&watchedInput{o.In, r.lineDropped}), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(o.FPS),
	}
	if o.NoColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(screen, opts...)
	gap := 100 * time.Millisecond
	if o.OverSSH {
		gap = 250 * time.Millisecond
	}
	posts := &posts{ctx: ctx, gap: gap, to: p}
	screen.post = posts.begin
	posts.begin(t.here.r)
	over := make(chan struct{})
	r.spawn("end", func(ctx context.Context) { endWith(ctx, p, over) })
	_, err := p.Run()
	close(over)
	posts.end()
	return screen.next, err
}

// endWith asks the program to quit when ctx ends: told by its context it would close its input under its own reader.
func endWith(ctx context.Context, p *tea.Program, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	hard := time.AfterFunc(quitGrace, p.Kill)
	defer hard.Stop()
	p.Quit()
	select {
	case <-over:
	case <-time.After(frozenGrace):
	}
}

// visit attaches, and says in the control room how it was.
func visitAgent(ctx context.Context, r *runner, o shared, m *model, agent string) {
	defer r.guard("attach")
	begun := staying(m, agent)
	said, err := r.attachTo(ctx, o, agent)
	left(m, r.now(), begun)
	switch {
	case err != nil:
		r.log.Warn("attach", "agent", agent, "error", err)
		complain(m, err.Error())
	case said != "":
		say(m, said)
	}
}

// readText gives the terminal to a pager, and says in the control room if that failed.
func readText(ctx context.Context, r *runner, o shared, m *model, text string) {
	defer r.guard("pager")
	err := pageThrough(ctx, o, text)
	m.now = r.now()
	m.ui++
	if err != nil {
		r.log.Warn("pager", "error", err)
		complain(m, err.Error())
	}
}

// editText gives the terminal to an editor. What came of it is looked at when the room is back, which it tells of: a
// plan may take long.
func editText(ctx context.Context, r *runner, o shared, m *model, what edit) {
	defer r.guard("editor")
	d, err := r.editDraft(ctx, o, what)
	m.now = r.now()
	m.ui++
	m.judging = true
	say(m, "looking at what was edited "+m.look.Glyphs.More)
	r.spawn("editor", func(ctx context.Context) {
		e := edited{err: err}
		if d != nil {
			e = judge(ctx, r.config, d, err)
		}
		if e.err != nil {
			r.log.Warn("editing the configuration", "error", e.err)
		}
		r.box.put(func(n *news) { n.edited = &e })
	})
}
