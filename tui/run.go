package tui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// Run shows the control room until the person leaves, ctx ends or the terminal is gone. Options.In and Out must be a
// terminal. It handles SIGHUP, SIGTERM and SIGINT while it runs, never ends the process, and leaves the terminal as it
// found it. With an error the Exit is Ended. After Hangup SIGHUP stays caught and without effect until the caller
// handles it.
func Run(ctx context.Context, o Options) (Exit, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Ended, err
	}
	if !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		return Ended, errors.New("the control room needs a terminal for input and output; gcity --headless runs the city without one")
	}
	return run(ctx, o, newScreen)
}

func run(ctx context.Context, o Options, fresh screenMaker) (Exit, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	box := newMailbox()
	r := &runner{ctx: ctx, city: o.City, box: box, log: o.Logger, viewer: newViewer(o.City, box, fresh), fail: cancel}
	defer r.wait()
	defer cancel()
	r.spawn("signals", r.signals)
	r.spawn("snapshots", r.snapshots)
	r.spawn("events", r.events)
	r.spawn("pane", r.viewer.run)
	pulse := time.Second
	if o.Mode != Hosting {
		pulse = 2 * time.Second
	}
	r.spawn("pulse", func(ctx context.Context) { r.pulse(ctx, pulse) })

	m := newModel(o, time.Now())
	for ctx.Err() == nil {
		next, err := r.stretch(ctx, o, m)
		if err != nil && ctx.Err() == nil {
			return Ended, errors.Join(err, r.failure())
		}
		if ctx.Err() != nil {
			break
		}
		switch next := next.(type) {
		case finish:
			return next.exit, nil
		case attach:
			r.visit(ctx, o, m, next.agent)
		default:
			return Ended, nil
		}
	}
	if r.dropped.Load() {
		return Hangup, nil
	}
	return Ended, r.failure()
}

// stretch runs the program once, up to the next attach or the end. Every stretch is a program of its own, so that the
// terminal is wholly given back in between.
func (r *runner) stretch(ctx context.Context, o Options, m *model) (effect, error) {
	screen := &room{m: m, r: r}
	opts := []tea.ProgramOption{
		tea.WithInput(&watchedInput{o.In, r.lineDropped}), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ),
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
	pumping, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	r.spawn("pump", func(context.Context) {
		defer close(ended)
		r.pump(pumping, gap, func(at time.Time, n news) { p.Send(delivery{at, n}) })
	})
	over := make(chan struct{})
	r.spawn("end", func(ctx context.Context) { endWith(ctx, p, over) })
	_, err := p.Run()
	close(over)
	stop()
	<-ended
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
	<-over
}

// visit attaches, and says in the control room how it was.
func (r *runner) visit(ctx context.Context, o Options, m *model, agent string) {
	begun := m.staying(agent)
	said, err := r.attachTo(ctx, o, agent)
	m.left(time.Now(), begun)
	switch {
	case err != nil:
		r.log.Warn("attach", "agent", agent, "error", err)
		m.complain(err.Error())
	case said != "":
		m.say(said)
	}
}

// signals ends the control room when the terminal is gone or somebody asks the process to end. After a hangup SIGHUP
// stays caught: the kernel and the shell each send one, and the second must not end a city that goes on headless.
func (r *runner) signals(ctx context.Context) {
	hangup, end := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(end)
	select {
	case <-ctx.Done():
	case <-hangup:
		r.log.Info("the terminal hung up")
		r.lineDropped()
	case s := <-end:
		r.log.Info("asked to end", "signal", s.String())
		r.fail()
	}
	if !r.dropped.Load() {
		signal.Stop(hangup)
	}
}

// lineDropped ends the control room: its terminal is gone.
func (r *runner) lineDropped() {
	r.dropped.Store(true)
	r.fail()
}

// watch points the pane.
func (r *runner) watch(w watch) {
	gap := 500 * time.Millisecond
	if w.focused {
		gap = 0
	}
	r.box.pace(gap)
	r.viewer.look(w)
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
