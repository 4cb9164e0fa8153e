package holder

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
	"gcity/session/pty/internal/wire"
)

// maxRing is how many bytes of a session's output are kept.
const maxRing = 256 << 10

type life struct {
	rec   wire.Record
	began time.Time
	pid   int

	terminal
	gone    chan struct{} // closed when the agent's process has been reaped
	drained chan struct{} // closed when all output of the terminal has been read
	ended   chan struct{} // closed when the field exit is set and the exit has been reported

	history
	draft      draft // changes require both the typing token and mu
	size       wire.Screen
	resizes    int
	meta       map[string]string
	attached   []*viewer // viewers that type; the size of the last one applies
	viewers    int       // including those that only watch
	frozen     bool
	reaped     bool // the agent's process has been reaped, so its PID can belong to another process
	asked      bool
	lost       bool
	stopping   *stopping
	stopSignal unix.Signal
	exit       *wire.Exit
	saved      bool
	acked      bool
	output     int64 // CLOCK_MONOTONIC in nanoseconds, like the next two fields
	input      int64
	typed      int64
	activity   activityWrites
}

type activityWrites struct {
	last       time.Time
	timer      *time.Timer
	waiting    bool
	complained bool
}

// begin starts a session. Only the main goroutine may call it.
func (h *holder) begin(req *wire.Request) error {
	s := req.Spec
	h.mu.Lock()
	old, leaving := h.current, h.leaving
	running := old != nil && old.exit == nil
	h.mu.Unlock()
	if leaving {
		return errLeaving
	}
	if running {
		return &wire.Failure{Cause: wire.Exists,
			Message: fmt.Sprintf("it is already running as pid %d", old.pid)}
	}
	l := h.newLife(s, req.Ready)
	l.plain = req.Plain
	if !proc.SameFile(h.lock.fd, wire.LockFile) { // the folder was deleted
		if err := h.settle(); err != nil {
			return resourceError(err)
		}
	}
	h.mu.Lock()
	before := h.lock.current
	err := h.lock.writeRecord(l.rec)
	h.mu.Unlock()
	if err != nil {
		return resourceError(fmt.Errorf("cannot write in %s: %w", h.dir, err))
	}
	if err := remove(wire.ExitFile); err != nil {
		err = fmt.Errorf("cannot remove the record of the last exit: %w", err)
		return h.restore(old, before, err)
	}
	if err := l.launch(s); err != nil {
		return h.restore(old, before, resourceError(err))
	}
	h.mu.Lock()
	h.previous, h.current = old, l
	h.writeActivity(l)
	h.mu.Unlock()
	h.wg.Go(func() { h.drain(l) })
	return nil
}

func resourceError(err error) error {
	if !proc.Exhausted(err) {
		return err
	}
	return &wire.Failure{Cause: wire.Exhausted, Message: err.Error()}
}

func (h *holder) restore(old *life, record wire.Location, cause error) error {
	if old == nil {
		return cause
	}
	h.mu.Lock()
	err := h.lock.setCurrent(record)
	h.mu.Unlock()
	if !old.acked {
		err = errors.Join(err, h.writeJSON(wire.ExitFile, old.exit))
	}
	if err != nil {
		h.logError("cannot restore the records after a failed start", err)
	}
	return cause
}

func (h *holder) newLife(s *wire.Spec, ready bool) *life {
	l := &life{
		terminal: newTerminal(s.Cols, s.Rows),
		began:    time.Now(),
		gone:     make(chan struct{}),
		drained:  make(chan struct{}),
		ended:    make(chan struct{}),
		history:  history{out: ring{max: maxRing}},
		meta:     make(map[string]string),
		rec: wire.Record{
			Version: wire.Version, Name: s.Name, Agent: s.Agent, City: s.City, ID: s.ID,
			Command: s.Command,
			Boot:    h.boot, Holder: h.pid, HolderStart: h.born, Fingerprint: s.Fingerprint,
		},
	}
	l.stopSignal = unix.SIGINT
	if s.StopSignal != 0 {
		l.stopSignal = unix.Signal(s.StopSignal)
	}
	l.size = wire.Screen{Cols: l.cols, Rows: l.rows}
	l.rec.Born = h.clock.Mono(l.began)
	if ready {
		l.meta[wire.ReadyMark] = "1"
	}
	return l
}

// launch executes the program of s. If s has no program, or the program cannot be executed, a shell runs the command.
// The shell can also run a script without an interpreter line.
func (l *life) launch(s *wire.Spec) error {
	if s.Path != "" {
		if err := l.spawn(s, s.Path, s.Args); err == nil || isFull(err) {
			return startFailure(s, err)
		}
	}
	return startFailure(s, l.spawn(s, "/bin/sh", []string{"sh", "-c", s.Command}))
}

// spawn starts a program. It opens a new terminal for each attempt, because the previous one belonged to a process that
// has exited.
func (l *life) spawn(s *wire.Spec, path string, args []string) error {
	open := l.openTerminal
	if l.plain {
		open = l.openPipes
	}
	if err := open(); err != nil {
		return err
	}
	err := l.fork(s, path, args)
	l.closeChildFiles()
	if err != nil {
		l.closeSlave()
		l.closeOwnFiles()
	}
	return err
}

type forkError struct{ error }

func (e forkError) Unwrap() error { return e.error }

// fork creates the agent's process, which leads a new Unix session and inherits the lock. The kernel kills the process
// when this thread exits.
func (l *life) fork(s *wire.Spec, path string, args []string) error {
	in, out := l.slave, l.slave
	if l.plain {
		in, out = l.childFiles[0], l.childFiles[1]
	}
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   append([]string{}, s.Env...), // nil means the holder's environment
		Files: []uintptr{uintptr(in), uintptr(out), uintptr(out)},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: !l.plain, Ctty: 0,
			Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return forkError{err}
	}
	l.pid = pid
	return nil
}

func isFull(err error) bool {
	return !errors.As(err, new(forkError)) ||
		errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOMEM)
}

func startFailure(s *wire.Spec, err error) error {
	if !errors.As(err, new(forkError)) {
		return err
	}
	command := func(format string, args ...any) error {
		return &wire.Failure{Cause: wire.Command, Message: fmt.Sprintf(format, args...)}
	}
	if errors.Is(err, unix.E2BIG) {
		return command("its command line or environment is too long (the system allows 128 KiB " +
			"per argument): put a long prompt in a file and pass the file's name")
	}
	info, statErr := os.Stat(s.Dir)
	switch {
	case errors.Is(statErr, os.ErrNotExist):
		return command("its folder %s does not exist", s.Dir)
	case statErr != nil:
		return command("cannot use its folder: %v", statErr)
	case !info.IsDir():
		return command("%s is not a folder", s.Dir)
	case errors.Is(err, unix.EACCES):
		return command("cannot enter its folder %s: permission denied", s.Dir)
	case errors.Is(err, unix.ENOENT):
		return command("cannot run the command, because /bin/sh does not exist")
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM):
		return fmt.Errorf("the system cannot create another process (%w): check ulimit -u and "+
			"free memory", err)
	}
	return fmt.Errorf("cannot create its process: %w", err)
}

// reap reaps all children that have exited. Only the main goroutine may call it, so that no two goroutines wait for the
// same child.
func (h *holder) reap() {
	var dead *life
	var how unix.WaitStatus
	for {
		var ws unix.WaitStatus
		// hold the lock, because no goroutine may signal the PID between Wait4 and reaped
		h.mu.Lock()
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED, nil)
		l := h.current
		mine := l != nil && !l.reaped && pid == l.pid
		if mine {
			switch {
			case ws.Stopped(), ws.Continued():
				l.frozen = ws.Stopped()
				h.writeActivity(l)
			default:
				l.reaped = true
				close(l.gone)
				dead, how = l, ws
			}
		}
		h.mu.Unlock()
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			if dead != nil {
				at, childless := time.Now(), err == unix.ECHILD
				h.wg.Go(func() { h.finish(dead, how, at, childless) })
			}
			return
		}
	}
}

func (h *holder) finish(l *life, ws unix.WaitStatus, at time.Time, childless bool) {
	for !childless && !proc.KillTree(h.pid, time.Now().Add(10*time.Second)) {
		h.logError("cannot kill all of the agent's remaining processes",
			fmt.Errorf("pids %v", proc.Descendants(h.pid)))
	}
	// Usually, no other process has the terminal open now, so the reader reads the remaining output and ends.
	l.closeSlave()
	select {
	case <-l.drained:
	case <-time.After(time.Second): // an unrelated process has the terminal open
		l.master.SetReadDeadline(time.Now())
		<-l.drained
	}
	exit := &wire.Exit{
		Name: l.rec.Name, Agent: l.rec.Agent, ID: l.rec.ID, Code: -1,
		At: at, Uptime: at.Sub(l.began),
	}
	if ws.Exited() {
		exit.Code = ws.ExitStatus()
	} else if ws.Signaled() {
		exit.Signal = unix.SignalName(ws.Signal())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	exit.Asked, exit.Lost = l.asked, l.lost
	l.exit = exit
	l.closeOwnFiles()
	h.writeActivity(l)
	h.reportExit(l)
	h.cond.Broadcast()
	close(l.ended)
	h.leaveIfIdle()
}

// reportExit sends the exit to all clients. The holder saves an exit only if no controller records it, because some
// file systems are slow to create a file. The caller must hold h.mu.
func (h *holder) reportExit(l *life) {
	for c := range h.held {
		if c.sendJSON(wire.Exited, l.exit) != nil {
			c.Close()
			delete(h.held, c)
		}
	}
	if !h.hasController() {
		h.saveExit(l)
		return
	}
	time.AfterFunc(h.saveExitAfter, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.current == l && !l.acked && !h.leaving {
			h.saveExit(l)
		}
	})
}

// saveExit writes the exit to the session's folder, unless this has succeeded before. The caller must hold h.mu.
func (h *holder) saveExit(l *life) {
	if l.saved {
		return
	}
	err := h.writeJSON(wire.ExitFile, l.exit)
	if l.saved = err == nil; err != nil {
		h.logError("cannot record the exit", err)
	}
}
