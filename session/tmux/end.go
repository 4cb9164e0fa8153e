package tmux

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

const (
	sweepTimeout = 5 * time.Second
	statusWait   = 3 * time.Second // for tmux to report an agent's exit
	killAfter    = 500 * time.Millisecond
	stopTimeout  = time.Minute
)

func (p *Provider) watch(e *entry) bool {
	if p.files.observe {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil || e.watch != nil || e.rec.Boot != p.files.boot {
		return true
	}
	id := e.rec.ID
	w, err := proc.Watch(e.rec.PID, e.rec.Start)
	if err != nil {
		return false
	}
	e.watch = w
	if !p.reg.Async(func() {
		if w.Wait() == nil {
			p.recordEnd(e, id, true)
		}
	}) {
		w.Close()
	}
	return true
}

func (p *Provider) recordEnd(e *entry, id string, report bool) {
	release, err := e.take(p.ctx)
	if err != nil {
		return
	}
	defer release()
	rec, alive := e.life()
	if !alive || rec.ID != id {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	e.mu.Lock()
	asked := e.asked
	e.mu.Unlock()
	if x, err := p.findEnd(ctx, &rec, asked); err != nil {
		if p.ctx.Err() == nil {
			p.log.Error("cannot determine how a session ended; the next patrol will try again",
				"session", rec.Name, "err", err)
		}
	} else if x != nil && e.finish(id, x) && report {
		p.reg.Report(x.Exit)
	}
}

func (p *Provider) findEnd(ctx context.Context, rec *record, asked bool) (*ended, error) {
	if !rec.died(p.files.boot) {
		if found, err := p.tmux.paneExists(ctx, rec); err != nil || found {
			return nil, err
		}
	}
	x := p.files.lost(rec)
	if rec.Boot == p.files.boot {
		p.files.sweep(rec, nil)
		var err error
		if x, err = p.tmux.awaitExit(ctx, rec); err != nil {
			return nil, err
		}
	}
	found := !x.Lost
	x.Asked = asked || p.files.asked(rec)
	x.Lost = x.Lost && !x.Asked
	if err := writeJSON(p.files.path(rec.Name, exitFile), x); err != nil {
		p.log.Warn("cannot record an exit", "session", rec.Name, "err", err)
	}
	if found {
		p.tmux.remove(ctx, rec)
	}
	return x, nil
}

func (c *client) remove(ctx context.Context, rec *record) {
	_, err := c.run(ctx, nil, "kill-pane", "-t", rec.target())
	if err != nil && !isGone(err) {
		c.log.Warn("cannot remove the pane of an ended session", "session", rec.Name,
			"err", err)
	}
}

func (c *client) paneExists(ctx context.Context, rec *record) (bool, error) {
	out, err := c.run(ctx, nil, "display-message", "-p", "-t", rec.target(), "#{pane_pid}")
	switch {
	case isGone(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return number(strings.TrimSpace(out)) == rec.PID, nil
}

func (f *folders) lost(rec *record) *ended {
	x := &ended{Exit: session.Exit{
		Name: rec.Name, Agent: rec.Agent, ID: rec.ID, Code: -1, Lost: true, At: time.Now(),
	}}
	if rec.Boot == f.boot { // otherwise, the machine was off for an unknown time
		x.Uptime = uptime(rec, x.At)
	}
	return x
}

// the wall clock may have been set back
func uptime(rec *record, at time.Time) time.Duration {
	return max(0, at.Sub(time.Unix(0, rec.Born)))
}

// without a pane, the session counts as lost
func (c *client) awaitExit(ctx context.Context, rec *record) (*ended, error) {
	until := time.Now().Add(statusWait)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		dead, output, err := c.readDeadPane(ctx, rec)
		if isGone(err) {
			return c.files.lost(rec), nil
		}
		if err != nil {
			return nil, err
		}
		patient := time.Now().Before(until) && ctx.Err() == nil
		if dead.over || !patient {
			x := dead.exit(rec)
			file := c.files.path(rec.Name, outputFile(rec.ID))
			if err := disk.Replace(file, output, 0o600); err != nil {
				c.log.Warn("cannot save a session's last output", "session", rec.Name, "err",
					err)
			}
			return x, nil
		}
		deadline.Pause(ctx, pause)
		// Under load, tmux 3.3 sometimes misses the exit of a child. Another SIGCHLD makes it check.
		proc.Signal(rec.Server, syscall.SIGCHLD, func(pid int) bool { return c.isServer(pid) })
	}
}

func (c *client) presumedEnd(ctx context.Context, rec *record) *ended {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	dead, _, err := c.readDeadPane(ctx, rec)
	if err != nil {
		return c.files.lost(rec)
	}
	x := dead.exit(rec)
	x.Asked = c.files.asked(rec)
	return x
}

type deadPane struct {
	over       bool
	code       string // "" if killed by a signal
	signal     string // number of the signal
	at         int    // in Unix seconds; 0 if unknown
	cols, rows int
}

func (c *client) readDeadPane(ctx context.Context, rec *record) (w deadPane, output []byte,
	err error) {
	const format = "#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|" +
		"#{pane_dead_time}|#{pane_width}|#{pane_height}"
	out, err := c.run(ctx, nil, "display-message", "-p", "-t", rec.target(), format, ";",
		"capture-pane", "-p", "-e", "-S", "-", "-t", rec.target())
	if err != nil {
		return w, nil, err
	}
	line, rest, _ := strings.Cut(out, "\n")
	f := strings.Split(line, "|")
	if len(f) != 7 {
		return w, nil, fmt.Errorf("%w: it returned the invalid pane state %q", errOther, line)
	}
	if number(f[0]) != rec.PID {
		return w, nil, errNoPane
	}
	w = deadPane{f[1] == "1" && (f[2] != "" || f[3] != ""), f[2], f[3], number(f[4]), number(f[5]),
		number(f[6])}
	return w, clip(rest), nil
}

func (w deadPane) exit(rec *record) *ended {
	now := time.Now()
	// the current time is more precise than tmux's whole seconds
	if at := time.Unix(int64(w.at), 0); w.at > 0 && now.Sub(at) > 2*time.Second {
		now = at
	}
	x := &ended{Cols: w.cols, Rows: w.rows, Exit: session.Exit{
		Name: rec.Name, Agent: rec.Agent, ID: rec.ID, Code: -1, At: now, Uptime: uptime(rec, now),
	}}
	if w.code != "" {
		x.Code = number(w.code)
	} else if n := number(w.signal); n > 0 {
		x.Signal = unix.SignalName(syscall.Signal(n))
	}
	return x
}

func tree(rec *record) map[int]uint64 {
	all := map[int]uint64{rec.PID: rec.Start}
	for _, pid := range proc.Descendants(rec.PID) {
		if st, err := proc.ReadStat(pid); err == nil {
			all[pid] = st.Start
		}
	}
	return all
}

// Stop implements session.Provider.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	grace = max(grace, 0)
	ctx, cancel := context.WithTimeout(ctx, grace+stopTimeout)
	defer cancel()
	e := p.reg.Find(name)
	if e == nil {
		return nil
	}
	release, err := e.take(ctx)
	if err != nil {
		return err
	}
	rec, alive := e.life()
	// an agent that is no longer alive has exited on its own
	ask := alive && !rec.died(p.files.boot)
	e.mu.Lock()
	over := e.over
	if ask {
		e.asked, e.askedAt = true, time.Time{}
	}
	e.mu.Unlock()
	release()
	if !alive {
		return nil
	}
	if ask {
		if err := disk.Replace(p.files.path(name, askedFile), []byte(rec.ID), 0o600); err != nil {
			// a full disk must not keep an agent running
			p.log.Warn("cannot record the request to stop a session: after a restart of the "+
				"controller, its exit would count as a crash", "session", name, "err", err)
		}
	}
	if err := p.end(ctx, &rec, grace, over); err != nil {
		return err
	}
	p.recordEnd(e, rec.ID, true)
	select {
	case <-over:
		return nil
	default:
	}
	return fail("stop", name, errOther, "its processes have ended, but tmux has not yet reported "+
		"how; the next patrol will ask again")
}

const (
	promptPoll = 200 * time.Millisecond
	// A shell that is still starting can ignore SIGHUP, so ask sends the signal again after this time.
	hangUpAgain = time.Second
)

// ask asks the agent to exit, and reports whether it did so within the grace period. An interactive shell at its prompt
// ignores SIGINT, so ask also sends it SIGHUP.
func (p *Provider) ask(ctx context.Context, rec *record, grace time.Duration,
	over <-chan struct{}) bool {
	still := func(int) bool { return rec.lives(p.files.boot) }
	if sig := session.ParseSignal(rec.StopSignal); sig != 0 && sig != unix.SIGINT {
		proc.Signal(rec.PID, sig, still)
		return waitOver(ctx, over, grace)
	}
	if _, err := p.tmux.run(ctx, nil, "send-keys", "-t", rec.target(), "C-c"); err != nil {
		p.log.Warn("cannot interrupt the agent", "session", rec.Name, "err", err)
	}
	// the key might be stuck behind unread input
	proc.Signal(rec.PID, unix.SIGINT, still)
	deadline, hungUp := time.Now().Add(grace), time.Time{}
	for proc.Shell(rec.PID) && ctx.Err() == nil && time.Now().Before(deadline) {
		if time.Since(hungUp) >= hangUpAgain && proc.AtPrompt(rec.PID) {
			hungUp = time.Now()
			proc.Signal(rec.PID, unix.SIGHUP, still)
		}
		if waitOver(ctx, over, min(promptPoll, time.Until(deadline))) {
			return true
		}
	}
	return waitOver(ctx, over, time.Until(deadline))
}

// end sends the agent's stop signal, then SIGTERM, then SIGKILL. Without a grace period, it sends only SIGKILL. It
// returns when the exit is recorded or no process is left.
func (p *Provider) end(ctx context.Context, rec *record, grace time.Duration,
	over <-chan struct{}) error {
	family := tree(rec)
	if grace > 0 && !rec.died(p.files.boot) {
		signalAll(family, unix.SIGCONT)
		if p.ask(ctx, rec, grace, over) {
			return nil
		}
		maps.Copy(family, tree(rec))
		signalAll(family, unix.SIGTERM)
		signalAll(family, unix.SIGHUP)
		signalAll(family, unix.SIGCONT)
		if waitOver(ctx, over, killAfter) {
			return nil
		}
	}
	for ctx.Err() == nil {
		maps.Copy(family, tree(rec))
		if left := p.files.sweep(rec, family); len(left) == 0 {
			return nil
		}
	}
	return fail("stop", rec.Name, errOther, "cannot kill some of its processes: %v",
		context.Cause(ctx))
}

func signalAll(family map[int]uint64, sig syscall.Signal) {
	for pid, start := range family {
		proc.Signal(pid, sig, func(pid int) bool { return proc.Lives(pid, start) })
	}
}

func waitOver(ctx context.Context, over <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
