// Package holder is the process that holds one session. It owns the agent's terminal, reads its output, answers
// requests on a socket, reaps and kills the agent's process tree, and outlives controllers.
//
// # Concurrency
//
// The main goroutine is locked to the main thread, because the kernel kills the agent when the thread that forked
// it exits. Only this goroutine forks and waits. So a process can be signalled by pid as long as the main goroutine
// has not reaped it. Each connection has a goroutine, and each life has one that reads its terminal. holder.mu
// guards everything in holder and life unless noted otherwise. holder.cond is broadcast on every change that a
// viewer may wait for.
package holder

import (
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

// Idle holders never collect garbage: the collector's own structures would cost a third of a megabyte. A busy
// holder collects once per megabyte; a flood of output allocates nothing.
const gcPercent = 25

// idleLife is how long a holder waits for a next life while a controller is connected.
const idleLife = 15 * time.Minute

type holder struct {
	dir   string // absolute; also the working folder, because socket paths have a limited length
	clock wire.Clock
	boot  string
	pid   int
	born  uint64      // own start time, in ticks
	tasks chan func() // run by the main goroutine
	done  chan struct{}
	wg    sync.WaitGroup
	lock  int // its descriptor

	mu       sync.Mutex
	cond     *sync.Cond
	ln       *os.File
	activity *os.File
	cur      *life // the newest life; nil before the first start
	prev     *life // for its output
	// true if the connection keeps the holder alive; false for one that only looks
	held    map[*conn]bool
	leaving bool
}

// Main runs a holder until it has nothing to hold. args is the session's folder. Standard input is the connection
// to the controller, which sends what to start.
func Main(args []string) int {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	nameProcess("gcity-hold")
	debug.SetGCPercent(gcPercent)
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "gcity hold is run by gcity itself, once per agent")
		return 2
	}
	signals := make(chan os.Signal, 16)
	// This comes first: a process that finds our folder without a socket sends HUP, which must not kill the holder.
	// A signal that is caught here has its default action in the agent, even under nohup.
	signal.Notify(signals, unix.SIGHUP)
	first, err := inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gcity hold is run by gcity itself, once per agent:", err)
		return 2
	}
	h, err := open(args[0], first)
	if err != nil {
		first.fail(err)
		first.Close()
		return 1
	}
	return h.run(first, signals)
}

// nameProcess sets the name shown by ps and top. Without it, the kernel would show the memory file's descriptor number.
func nameProcess(name string) {
	b := append([]byte(name), 0)
	// nothing depends on the name
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
}

// open takes the session's folder and its lock. From then on it accepts connections.
func open(dir string, first *conn) (*holder, error) {
	h := &holder{
		dir:   dir,
		clock: wire.NewClock(),
		pid:   os.Getpid(),
		tasks: make(chan func()),
		done:  make(chan struct{}),
		held:  map[*conn]bool{first: true},
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
		return nil, fmt.Errorf("cannot become the reaper of the agent's children: %w", err)
	}
	return h, h.settle()
}

// run serves requests until leave. It is the main goroutine.
func (h *holder) run(first *conn, signals chan os.Signal) int {
	if !h.birth(first) {
		return 1
	}
	// These run after the start of the agent, because each takes as long as the start itself.
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM)
	h.reap()
	h.wg.Go(func() { h.serve(first) })
	for {
		select {
		case task := <-h.tasks:
			task()
		case s := <-signals:
			h.signalled(s)
		case <-h.done:
			return 0
		}
	}
}

// birth reads the first request, a start, and carries it out directly: without other goroutines this is twice as
// fast.
func (h *holder) birth(first *conn) bool {
	first.SetReadDeadline(time.Now().Add(birthTimeout))
	req, err := first.request()
	if err != nil || req.Op != wire.OpStart || req.Spec == nil {
		h.complain("no request arrived", err)
		h.removeFiles()
		return false
	}
	first.SetReadDeadline(time.Time{})
	if err := h.begin(&req); err != nil {
		h.removeFiles()
		first.fail(err)
		return false
	}
	// a controller that is gone finds the holder by its socket
	_ = first.sendJSON(wire.Done, h.state())
	return true
}

// birthTimeout is how long the process that executed the holder may take to send its request.
const birthTimeout = 10 * time.Second

func (h *holder) signalled(s os.Signal) {
	switch s {
	case unix.SIGCHLD:
		h.reap()
	case unix.SIGHUP: // a controller did not find our socket
		if h.settled() {
			return
		}
		if err := h.settle(); err != nil {
			h.complain("cannot take over its folder again", err)
		}
	case unix.SIGTERM: // the machine shuts down, or a user sent it
		h.wg.Go(h.terminate)
	}
}

// terminate ends the agent and the holder.
func (h *holder) terminate() {
	h.stop(terminateGrace, false)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave()
}

// onMain runs f on the main goroutine and waits for it.
func (h *holder) onMain(f func() error) error {
	result := make(chan error, 1)
	select {
	case h.tasks <- func() { result <- f() }:
		return <-result
	case <-h.done:
		return errLeaving
	}
}

// complain writes to the log that all holders share, for errors that reach no client.
func (h *holder) complain(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s holder %d of %s: %s: %v\n", time.Now().Format(time.RFC3339), h.pid,
		h.dir, what, err)
}

var errLeaving = &wire.Failure{Cause: wire.NotAlive,
	Message: "the session's holder is about to exit"}
