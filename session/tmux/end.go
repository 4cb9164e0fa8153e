package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

const (
	sweepTimeout = 5 * time.Second
	statusWait   = 3 * time.Second // from an agent's end to tmux's word of it
	killAfter    = 500 * time.Millisecond
	stopTimeout  = time.Minute // beyond the grace
)

// watch waits for the end of a life and has it buried. Observers do not. False: it seems to be over already.
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
	if !p.async(func() {
		if w.Wait() == nil {
			p.bury(e, id, true)
		}
	}) {
		w.Close()
	}
	return true
}

// bury finds out how a life ended, ends what is left of it, keeps its last output and tells. A life that goes on is
// left alone, whatever made us think otherwise.
func (p *Provider) bury(e *entry, id string, tell bool) {
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
	if x, err := p.autopsy(ctx, &rec); err != nil {
		if p.ctx.Err() == nil {
			p.log.Error("cannot find out how a session ended: the next patrol tries again",
				"session", rec.Name, "err", err)
		}
	} else if x != nil && e.finish(id, x) && tell {
		p.tell(x.Exit)
	}
}

// autopsy is the work of bury: nil if the life goes on.
func (p *Provider) autopsy(ctx context.Context, rec *record) (*ended, error) {
	if rec.lives(p.files.boot) { // then it is over only if its pane is gone
		if found, err := p.tmux.stands(ctx, rec); err != nil || found {
			return nil, err
		}
	}
	x := lost(rec)
	if rec.Boot == p.files.boot {
		p.files.sweep(rec, nil)
		var err error
		if x, err = p.tmux.verdict(ctx, rec); err != nil {
			return nil, err
		}
	}
	found := !x.Lost
	x.Asked = p.files.asked(rec)
	x.Lost = x.Lost && !x.Asked
	if err := writeJSON(p.files.path(rec.Name, exitFile), x); err != nil {
		p.log.Warn("cannot record an exit", "session", rec.Name, "err", err)
	}
	if found {
		p.tmux.remove(ctx, rec)
	}
	return x, nil
}

// remove takes away the pane of a life that is over.
func (c *client) remove(ctx context.Context, rec *record) {
	_, err := c.run(ctx, nil, "kill-pane", "-t", rec.target())
	if err != nil && !errors.Is(err, errNoPane) && !errors.Is(err, errNoServer) {
		c.log.Warn("cannot take away the pane of a session that is over", "session", rec.Name,
			"err", err)
	}
}

// stands reports whether the pane of a life is there, dead or not.
func (c *client) stands(ctx context.Context, rec *record) (bool, error) {
	out, err := c.run(ctx, nil, "display-message", "-p", "-t", rec.target(), "#{pane_pid}")
	switch {
	case errors.Is(err, errNoServer), errors.Is(err, errNoPane):
		return false, nil
	case err != nil:
		return false, err
	}
	return number(strings.TrimSpace(out)) == rec.PID, nil
}

// lost is the end of a life of which nobody saw the end.
func lost(rec *record) *ended {
	now := time.Now()
	return &ended{Exit: session.Exit{
		Name: rec.Name, Agent: rec.Agent, ID: rec.ID, Code: -1, Lost: true, At: now,
		Uptime: uptime(rec, now),
	}}
}

// uptime is never negative: the wall clock may have been set.
func uptime(rec *record, at time.Time) time.Duration {
	return max(0, at.Sub(time.Unix(0, rec.Born)))
}

// verdict waits until tmux knows how the agent ended, and keeps what it printed. Without its pane, the life was lost.
func (c *client) verdict(ctx context.Context, rec *record) (*ended, error) {
	deadline := time.Now().Add(statusWait)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		words, output, err := c.lastWords(ctx, rec)
		if errors.Is(err, errNoServer) || errors.Is(err, errNoPane) {
			return lost(rec), nil
		}
		if err != nil {
			return nil, err
		}
		patient := time.Now().Before(deadline) && ctx.Err() == nil
		if words.over || !patient {
			x := words.exit(rec)
			file := c.files.path(rec.Name, outputFile(rec.ID))
			if err := disk.Replace(file, output, 0o600); err != nil {
				c.log.Warn("cannot keep the last output of a session", "session", rec.Name, "err",
					err)
			}
			return x, nil
		}
		wait(ctx, pause)
		// tmux 3.3 has been seen to overlook the end of a child that ended while it was busy. Told once more, it looks.
		proc.Signal(rec.Server, syscall.SIGCHLD, func(pid int) bool { return c.isServer(pid) })
	}
}

// presume is what an observer makes of a dead pane.
func (c *client) presume(ctx context.Context, rec *record) *ended {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	words, _, err := c.lastWords(ctx, rec)
	if err != nil {
		return lost(rec)
	}
	x := words.exit(rec)
	x.Asked = c.files.asked(rec)
	return x
}

// words are what tmux says of a dead pane.
type words struct {
	over       bool
	code       string // "" if a signal ended it
	signal     string // a number
	at         int    // unix seconds, 0 = unknown
	cols, rows int
}

// lastWords asks for the end of a life and for all that is kept of its output, in one call.
func (c *client) lastWords(ctx context.Context, rec *record) (w words, output []byte, err error) {
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
		return w, nil, fmt.Errorf("%w: it says %q of a pane", errOther, line)
	}
	if number(f[0]) != rec.PID {
		return w, nil, errNoPane
	}
	w = words{f[1] == "1" && (f[2] != "" || f[3] != ""), f[2], f[3], number(f[4]), number(f[5]),
		number(f[6])}
	return w, clip(rest), nil
}

// exit makes an exit of them.
func (w words) exit(rec *record) *ended {
	now := time.Now()
	// else now is more exact
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

// tree is the agent's process and what is below it, each with its start time.
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
	e := p.find(name)
	if e == nil {
		return nil
	}
	release, err := e.take(ctx) // a start or a burial that is under way comes first
	if err != nil {
		return err
	}
	rec, alive := e.life()
	e.mu.Lock()
	over := e.over
	e.mu.Unlock()
	release()
	if !alive {
		return nil
	}
	if rec.lives(p.files.boot) { // else it ended by itself, and is only to be buried
		if err := disk.Replace(p.files.path(name, askedFile), []byte(rec.ID), 0o600); err != nil {
			return fmt.Errorf("cannot note that %q is to end: %w", name, err)
		}
	}
	if err := p.end(ctx, &rec, grace, over); err != nil {
		return err
	}
	p.bury(e, rec.ID, true) // if nobody else has
	select {
	case <-over:
		return nil
	default:
	}
	return fail("stop", name, errOther, "its processes are ended, and tmux does not tell how: "+
		"the next patrol asks again")
}

// promptPoll is how often a stop looks whether a shell has come to its prompt.
const promptPoll = 200 * time.Millisecond

// ask sends the agent its stop signal and reports whether it ended within the grace. An interactive shell ignores
// SIGINT at its prompt, so it gets SIGHUP there.
func (p *Provider) ask(ctx context.Context, rec *record, grace time.Duration,
	over <-chan struct{}) bool {
	still := func(int) bool { return rec.lives(p.files.boot) }
	if sig := session.ParseSignal(rec.StopSignal); sig != 0 && sig != unix.SIGINT {
		proc.Signal(rec.PID, sig, still)
		return waitOver(ctx, over, grace)
	}
	if _, err := p.tmux.run(ctx, nil, "send-keys", "-t", rec.target(), "C-c"); err != nil {
		p.log.Warn("cannot interrupt", "session", rec.Name, "err", err)
	}
	// The key may wait behind input that the program does not read.
	proc.Signal(rec.PID, unix.SIGINT, still)
	deadline := time.Now().Add(grace)
	for proc.Shell(rec.PID) && ctx.Err() == nil && time.Now().Before(deadline) {
		if proc.AtPrompt(rec.PID) {
			proc.Signal(rec.PID, unix.SIGHUP, still)
			break
		}
		if waitOver(ctx, over, min(promptPoll, time.Until(deadline))) {
			return true
		}
	}
	return waitOver(ctx, over, time.Until(deadline))
}

// end carries a stop out: ask, insist, kill. It ends early when the life is over and buried.
func (p *Provider) end(ctx context.Context, rec *record, grace time.Duration,
	over <-chan struct{}) error {
	family := tree(rec)
	if grace > 0 && rec.lives(p.files.boot) {
		signalAll(family, unix.SIGCONT)
		if p.ask(ctx, rec, grace, over) {
			return nil
		}
		for pid, start := range tree(rec) {
			family[pid] = start
		}
		signalAll(family, unix.SIGTERM)
		signalAll(family, unix.SIGHUP)
		signalAll(family, unix.SIGCONT)
		if waitOver(ctx, over, killAfter) {
			return nil
		}
	}
	for ctx.Err() == nil {
		for pid, start := range tree(rec) {
			family[pid] = start
		}
		if left := p.files.sweep(rec, family); len(left) == 0 {
			return nil
		}
	}
	return fail("stop", rec.Name, errOther, "some of its processes cannot be ended: %v",
		context.Cause(ctx))
}

func signalAll(family map[int]uint64, sig syscall.Signal) {
	for pid, start := range family {
		proc.Signal(pid, sig, func(pid int) bool { return proc.Lives(pid, start) })
	}
}

// waitOver waits for the end, and reports whether it came within the time.
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

// wait lets time pass, unless ctx ends.
func wait(ctx context.Context, d time.Duration) { waitOver(ctx, nil, d) }
