package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"gcity/internal/proc"
	"gcity/internal/termsize"
	"gcity/themes"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// Run shows the control room until the user leaves, ctx ends or the terminal is closed. Options.In and Out must be a
// terminal. Run handles SIGHUP, SIGTERM and SIGINT, and restores the terminal. If the terminal no longer accepts
// output, one goroutine is left running. If Run returns an error, the Exit is Ended. If the Exit is Hangup, SIGHUP
// stays ignored until the caller handles it.
func Run(ctx context.Context, o Options) (feed.Exit, error) {
	o, err := o.withDefaults()
	if err != nil {
		return feed.Ended, err
	}
	if !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		return feed.Ended, errors.New("the control room needs a terminal for input and output; " +
			"run `gcity --headless` to run the city without one")
	}
	return run(ctx, o, terminal.NewScreen)
}

func run(ctx context.Context, o Options, newScreen terminal.ScreenMaker) (feed.Exit, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	box := feed.NewMailbox()
	r := &feed.Runner{Ctx: ctx, City: o.City, Mailbox: box, LogFile: o.LogFile,
		Log:    o.cityLog(o.Folder),
		Config: o.Config, Fail: cancel,
		Clock: o.Clock, Getenv: feed.EnvLookup(o.Environ)}
	defer r.Wait()
	defer cancel()
	r.Spawn("signals", func(ctx context.Context) { r.HandleSignals(ctx, o.Interrupts) })
	t := newRoomSwitcher(r, o, newScreen)
	if t.watcher != nil {
		r.Spawn("cities", t.watcher.Run)
	}
	r.Spawn("preferences", func(ctx context.Context) {
		r.FollowPreferences(ctx, o.Changes, t.putPreferences)
	})

	oldState, err := term.GetState(o.In.Fd())
	if err != nil {
		return feed.Ended, fmt.Errorf("cannot read the terminal's modes: %w", err)
	}
	type outcome struct {
		exit feed.Exit
		err  error
	}
	left := make(chan outcome, 1)
	// This goroutine is left running if the terminal does not accept output.
	var room sync.WaitGroup
	room.Go(func() {
		var end outcome
		defer func() {
			if p := recover(); p != nil {
				r.RecordPanic("program", p)
				end.exit, end.err = r.ExitReason()
			}
			left <- end
		}()
		end.exit, end.err = runPrograms(ctx, r, t)
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
	r.Log.Error("the terminal accepts no output; the control room is exiting without " +
		"restoring the screen")
	if err := term.Restore(o.In.Fd(), oldState); err != nil {
		r.Log.Error("the terminal's modes could not be restored", "error", err)
	}
	return r.ExitReason()
}

// frozenGrace limits the wait for the terminal to accept the last output. It is longer than QuitGrace, after which the
// program is killed.
const frozenGrace = feed.QuitGrace + 2*time.Second

// runPrograms runs Bubble Tea programs until the room ends. In between, an agent, pager or editor uses the terminal.
func runPrograms(ctx context.Context, r *feed.Runner, t *roomSwitcher) (feed.Exit, error) {
	defer func() {
		if t.options.OnLeave != nil {
			t.options.OnLeave(shownCity(t.current.m))
		}
		for _, e := range state.SaveRoom(t.current.m, true) {
			r.SaveRoom(t.current.stateFile, e.(feed.SaveRoom))
		}
	}()
	for ctx.Err() == nil {
		next, err := runProgram(ctx, r, t)
		if err != nil && ctx.Err() == nil {
			return feed.Ended, errors.Join(err, r.PanicError())
		}
		if ctx.Err() != nil {
			break
		}
		m, own := t.current.m, t.current.r
		o := feed.Terminal{In: t.options.In, Out: t.options.Out, Environ: t.options.Environ,
			Detach: m.Preferences.Detach}
		switch next := next.(type) {
		case feed.Quit:
			why := t.options.checkLeave(next.Exit)
			if why == nil {
				return next.Exit, nil
			}
			own.Log.Warn("the control room stays open", "exit", next.Exit, "why", why)
			m.Now = own.Now()
			reportStays(m, why.Error())
		case feed.Attach:
			attachToAgent(ctx, own, o, m, next.Agent)
		case feed.ShowText:
			readText(ctx, own, o, m, next.Text)
		case feed.Edit:
			editText(ctx, own, o, m, next)
		case feed.TakeTerminal: // the next program sets the modes and draws everything
			if next.Stop {
				proc.Suspend()
			}
		default:
			return feed.Ended, nil
		}
	}
	exit, err := r.ExitReason()
	if m := t.current.m; exit == feed.Hangup && m.Preferences.OnHangup != "stop" {
		t.current.r.SendLast(state.DepartureUndrains(m))
	}
	return exit, err
}

func (o Options) checkLeave(e feed.Exit) error {
	if o.CheckLeave == nil {
		return nil
	}
	return o.CheckLeave(e)
}

// reportStays says why the city cannot be left to a controller in the background.
func reportStays(m *state.Room, why string) {
	state.Record(m, details.Message{Text: widget.FirstItem(why), Token: themes.Bad})
	actions.ShowStays(m, append([]string{"No controller in the background could run the city now:"},
		widget.PlainLines(why)...))
}

// runProgram creates a new program for each call, so that the terminal is fully restored in between.
func runProgram(ctx context.Context, r *feed.Runner, t *roomSwitcher) (feed.Effect, error) {
	o := t.options
	screen := &room{m: t.current.m, r: t.current.r, stateFile: t.current.stateFile, switcher: t}
	opts := []tea.ProgramOption{
		tea.WithInput(&feed.WatchedInput{File: o.In, Gone: r.HangUp}), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(o.FPS), tea.WithFilter(knownSize),
	}
	if o.NoColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(screen, opts...)
	gap := 100 * time.Millisecond
	if o.OverSSH {
		gap = 250 * time.Millisecond
	}
	posts := &feed.Deliveries{Ctx: ctx, Gap: gap, Program: p}
	screen.startDelivery = posts.Start
	posts.Start(t.current.r)
	over := make(chan struct{})
	r.Spawn("end", func(ctx context.Context) { quitWithContext(ctx, p, over) })
	r.Spawn("job control", func(ctx context.Context) { followShell(ctx, p, over) })
	_, err := p.Run()
	close(over)
	posts.Finish()
	return screen.exitEffect, err
}

// knownSize replaces an unknown terminal size.
func knownSize(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		size.Width, size.Height = termsize.Known(size.Width, size.Height)
		return size
	}
	return msg
}

// quitWithContext makes the program quit when ctx ends. The program does not receive ctx itself, because Bubble Tea
// would then close the input while a read is in progress.
func quitWithContext(ctx context.Context, p *tea.Program, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	hard := time.AfterFunc(feed.QuitGrace, p.Kill)
	defer hard.Stop()
	p.Quit()
	select {
	case <-over:
	case <-time.After(frozenGrace):
	}
}

// followShell makes the program take the terminal again if a shell stops or continues this process.
func followShell(ctx context.Context, p *tea.Program, over <-chan struct{}) {
	jobs := make(chan os.Signal, 1)
	proc.NotifyJobControl(jobs)
	defer signal.Stop(jobs)
	select {
	case <-over:
	case <-ctx.Done():
	case s := <-jobs:
		p.Send(feed.TakeTerminal{Stop: s == syscall.SIGTSTP})
	}
}

func attachToAgent(ctx context.Context, r *feed.Runner, o feed.Terminal, m *state.Room,
	agent string) {
	defer r.RecoverPanic("attach")
	begun := state.BeginVisit(m, agent)
	said, ended, err := r.AttachTo(ctx, o, agent)
	state.EndVisit(m, r.Now(), begun)
	m.SessionEnded, m.StrayKeyAt = ended, time.Time{}
	switch {
	case err != nil:
		r.Log.Warn("cannot attach to an agent", "agent", agent, "error", err)
		m.SessionEnded = false // the dialog that is opened next takes the keys
		actions.ReportNotAttached(m, err.Error(), time.Time{})
	case said != "":
		state.ShowSuccess(m, said)
	}
}

func readText(ctx context.Context, r *feed.Runner, o feed.Terminal, m *state.Room, text string) {
	defer r.RecoverPanic("pager")
	err := feed.ShowInPager(ctx, o, text)
	m.Now = r.Now()
	m.UI++
	if err != nil {
		r.Log.Warn("the pager failed", "error", err)
		state.ShowFailure(m, err.Error())
	}
}

// editText lets the user edit the configuration in an editor. It checks the result in the background, because the check
// can take a long time.
func editText(ctx context.Context, r *feed.Runner, o feed.Terminal, m *state.Room, what feed.Edit) {
	defer r.RecoverPanic("editor")
	d, err := r.EditDraft(ctx, o, what)
	m.Now = r.Now()
	m.UI++
	m.Checking = true
	state.ShowSuccess(m, "checking the edit "+m.Look.Glyphs.More)
	r.Spawn("editor", func(ctx context.Context) {
		e := feed.Edited{Err: err}
		if d != nil {
			e = feed.CheckDraft(ctx, r.Config, d, err)
		}
		if e.Err != nil {
			r.Log.Warn("editing the configuration failed", "error", e.Err)
		}
		r.Mailbox.Put(func(n *feed.News) { n.Edited = &e })
	})
}
