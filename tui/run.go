package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
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
	r.spawn("preferences", func(ctx context.Context) { r.persons(ctx, o.Changes) })

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
		end.exit, end.err = r.stretches(ctx, t)
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
func (r *runner) stretches(ctx context.Context, t *tour) (Exit, error) {
	defer func() {
		for _, e := range keepMemory(t.here.m, true) {
			r.remember(t.here.keep, e.(remember))
		}
	}()
	for ctx.Err() == nil {
		next, err := r.stretch(ctx, t)
		if err != nil && ctx.Err() == nil {
			return Ended, errors.Join(err, r.failure())
		}
		if ctx.Err() != nil {
			break
		}
		o, m, own := t.o, t.here.m, t.here.r
		o.Person, o.Config = m.person, own.config
		switch next := next.(type) {
		case finish:
			return next.exit, nil
		case attach:
			own.visit(ctx, o, m, next.agent)
		case page:
			own.read(ctx, o, m, next.text)
		case edit:
			own.edit(ctx, o, m, next)
		default:
			return Ended, nil
		}
	}
	return r.whatEnded()
}

// whatEnded is the exit of a room that nobody has left.
func (r *runner) whatEnded() (Exit, error) {
	switch err := r.failure(); {
	case r.dropped.Load():
		return Hangup, nil
	case err != nil:
		return Ended, err
	case r.broken.Load():
		return Interrupted, nil
	case r.asked.Load():
		return Terminated, nil
	}
	return Ended, nil
}

// stretch runs the program once, up to the next attach or the end. Every stretch is a program of its own, so that the
// terminal is wholly given back in between.
func (r *runner) stretch(ctx context.Context, t *tour) (effect, error) {
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
	posts.begin(t.here)
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

// environment looks a name up in a list of name=value.
func environment(list []string) func(string) string {
	return func(name string) string {
		for i := len(list) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(list[i], name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// visit attaches, and says in the control room how it was.
func (r *runner) visit(ctx context.Context, o Options, m *model, agent string) {
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

// signals ends the control room when the terminal is gone or somebody asks the process to end. After a hangup SIGHUP
// stays caught: the kernel and the shell each send one, and the second must not end a city that goes on headless.
func (r *runner) signals(ctx context.Context, interrupts <-chan os.Signal) {
	hangup, end := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Notify(end, syscall.SIGTERM)
	defer signal.Stop(end)
	if interrupts == nil {
		own := make(chan os.Signal, 1)
		signal.Notify(own, syscall.SIGINT)
		defer signal.Stop(own)
		interrupts = own
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-hangup:
			r.log.Info("the terminal hung up")
			r.lineDropped()
		case <-end:
			r.log.Info("asked to end")
			r.asked.Store(true)
			r.fail()
		case <-interrupts:
			if r.handed.Load() {
				// ctrl+c between the room and whom the terminal was given to: it was not meant for the city
				continue
			}
			r.log.Info("interrupted")
			r.broken.Store(true)
			r.fail()
		}
	}
	if !r.dropped.Load() {
		signal.Stop(hangup)
	}
}

// lineDropped ends the control room: its terminal is gone.
func (r *runner) lineDropped() {
	r.top().dropped.Store(true)
	r.fail()
}

// watch points the pane.
func (r *runner) watch(w watch) {
	gap := 500 * time.Millisecond
	if w.focused {
		gap = 0
	}
	r.box.pace(gap)
	if r.viewer != nil { // in the room of all cities there is nothing to be seen
		r.viewer.look(w)
	}
}

// watchedInput notices the end of the terminal, which Bubble Tea takes for silence.
type watchedInput struct {
	*os.File
	gone func()
}

// Read implements io.Reader.
func (w *watchedInput) Read(p []byte) (int, error) {
	n, err := w.File.Read(p)
	if n == 0 && len(p) > 0 && (err == nil || !errors.Is(err, os.ErrDeadlineExceeded)) {
		w.gone()
	}
	return n, err
}
