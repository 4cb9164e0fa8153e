// Package holder implements the process that holds an agent's session. It owns the agent's terminal, reads its output,
// serves requests on a socket, and reaps and kills the agent's process tree. It survives restarts of the controller.
//
// # Concurrency
//
// The main goroutine is locked to the main thread, because the kernel kills the agent when the thread that forked it
// exits. Only this goroutine forks and waits. A PID is therefore valid until the main goroutine has reaped its process.
// Each connection has a goroutine, and each session has one that reads its terminal. holder.mu protects all fields of
// holder and life unless noted otherwise. holder.cond is broadcast after every change that a viewer may wait for.
package holder

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
	"gcity/session/pty/internal/wire"
)

// gcPercent is the garbage collection target percentage. It is high enough that an idle holder never runs a collection,
// which would cost a third of a megabyte.
const gcPercent = 25

// idleLife is how long a holder waits for another session while a controller is connected.
const idleLife = 15 * time.Minute

type holder struct {
	// absolute path; also the working folder, because a socket's path must be short
	dir   string
	clock *wire.Clock
	boot  string
	pid   int
	born  uint64      // start time of this process in clock ticks
	tasks chan func() // functions to run in the main goroutine
	done  chan struct{}
	wg    sync.WaitGroup

	// how long a connected controller may take to record an exit before the holder saves the exit itself
	saveExitAfter time.Duration

	mu       sync.Mutex
	cond     *sync.Cond
	ln       *os.File
	lock     lockFile
	current  *life // nil before the first start
	previous *life // the session before the current one; its output can still be captured
	// open connections; the value is false for a read-only connection
	held    map[*conn]bool
	leaving bool
}

// Main runs a holder until it is no longer needed. args contains the session's folder. Standard input is the connection
// to the controller.
func Main(args []string) int {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	nameProcess("gcity-hold")
	debug.SetGCPercent(gcPercent)
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "gcity hold is for internal use; gcity starts it once per agent")
		return 2
	}
	signals := make(chan os.Signal, 16)
	// This call must come first: another process may send SIGHUP, which must not kill the holder. The call also ensures
	// that the agent starts with the default action, even if this process inherited an ignored SIGHUP.
	signal.Notify(signals, unix.SIGHUP)
	first, err := inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gcity hold is for internal use, and gcity did not start this "+
			"process:", err)
		return 2
	}
	h, err := open(args[0], first)
	if err != nil {
		first.fail(resourceError(err))
		first.Close()
		return 1
	}
	return h.run(first, signals)
}

// nameProcess sets the name that ps shows.
func nameProcess(name string) {
	b := append([]byte(name), 0)
	// if this fails, only the name in ps and top is wrong
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
}

func open(dir string, first *conn) (*holder, error) {
	h := &holder{
		dir:   dir,
		clock: wire.NewClock(),
		pid:   os.Getpid(),
		tasks: make(chan func()),
		done:  make(chan struct{}),
		held:  map[*conn]bool{first: true},

		saveExitAfter: 2 * time.Second,
	}
	h.cond = sync.NewCond(&h.mu)
	st, err := proc.ReadStat(h.pid)
	if err != nil {
		return nil, fmt.Errorf("cannot read /proc, which a session's holder needs: %w", err)
	}
	h.born = st.Start
	if h.boot, err = proc.BootID(); err != nil {
		return nil, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("cannot become the reaper of the agent's processes: %w", err)
	}
	return h, h.settle()
}

func (h *holder) run(first *conn, signals chan os.Signal) int {
	if !h.firstStart(first) {
		return 1
	}
	// These calls come after the agent's start, because each of them takes as long as the start itself.
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM)
	h.reap()
	ln := h.ln
	h.wg.Go(func() { h.accept(ln) })
	h.wg.Go(func() { h.serve(first) })
	for {
		select {
		case task := <-h.tasks:
			task()
		case s := <-signals:
			h.handleSignal(s)
		case <-h.done:
			return 0
		}
	}
}

// firstStart starts the first session, before the holder starts goroutines. This takes half as long as a later start.
func (h *holder) firstStart(first *conn) bool {
	first.SetReadDeadline(time.Now().Add(firstStartTimeout))
	req, err := first.request()
	if err != nil || req.Op != wire.OpStart || req.Spec == nil {
		h.logError("received no start request", err)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.removeFiles()
		return false
	}
	first.SetReadDeadline(time.Time{})
	if err := beginFor(first, h, &req); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.removeFiles()
		first.fail(err)
		return false
	}
	// if the controller has exited, the next one finds the holder through its socket
	_ = first.sendJSON(wire.Done, h.state())
	return true
}

const firstStartTimeout = 10 * time.Second

func (h *holder) handleSignal(s os.Signal) {
	switch s {
	case unix.SIGCHLD:
		h.reap()
	case unix.SIGHUP:
		if h.settled() {
			return
		}
		if err := h.settle(); err != nil {
			h.logError("cannot recreate the session's folder", err)
		}
	case unix.SIGTERM:
		h.wg.Go(h.terminate)
	}
}

func (h *holder) terminate() {
	for {
		h.stop(terminateGrace, false)
		err := h.onMain(func() error { // in the main goroutine, so that no start is in progress
			h.mu.Lock()
			defer h.mu.Unlock()
			if l := h.current; l == nil || l.exit != nil {
				h.leave()
			}
			return nil
		})
		if err != nil { // the holder exits
			return
		}
	}
}

func (h *holder) onMain(f func() error) error {
	result := make(chan error, 1)
	select {
	case h.tasks <- func() { result <- f() }:
		return <-result
	case <-h.done:
		return errLeaving
	}
}

// logError is for errors that no client receives.
func (h *holder) logError(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s holder %d of %s: %s: %v\n", time.Now().Format(time.RFC3339), h.pid,
		h.dir, what, err)
}

// beginFor starts a session unless the client has disconnected: the next controller may already have listed the
// sessions, and would not know about this one.
func beginFor(c *conn, h *holder, req *wire.Request) error {
	if c.abandoned() {
		h.logError("started no agent", errAbandoned)
		return errAbandoned
	}
	return h.begin(req)
}

var errAbandoned = errors.New("the client that requested the start has disconnected")

var errLeaving = &wire.Failure{Cause: wire.NotAlive,
	Message: "the session's holder is about to exit"}
