// Package holder is the process that holds one session: it owns the agent's terminal, drains it, answers on a socket,
// reaps and ends the agent's whole process tree, and outlives the controllers.
//
// # Concurrency
//
// The main goroutine is locked to the main thread, because the agent asks the kernel to be killed when the thread that
// made it ends. It alone forks and waits, so nobody waits for another's child, and a process can be signalled by pid as
// long as the main goroutine has not reaped it. Each connection has a goroutine, each life one that drains its
// terminal. Everything in holder and life is under holder.mu unless it says otherwise; holder.cond is broadcast on
// every change of it that a viewer may wait for.
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

// Idle holders never collect: that alone would cost them a third of a megabyte for the collector's own structures.
// A busy one does so per megabyte; a flood of output allocates nothing.
const gcPercent = 25

// idleLife is how long a holder waits for a next life while a controller is connected.
const idleLife = 15 * time.Minute

type holder struct {
	dir   string // absolute; also the working folder, so that no path is too long for a socket
	clock wire.Clock
	boot  string
	pid   int
	born  uint64      // own start time, in ticks
	tasks chan func() // run by the main goroutine
	done  chan struct{}
	wg    sync.WaitGroup
	lock  int // descriptor

	mu       sync.Mutex
	cond     *sync.Cond
	ln       *os.File
	activity *os.File
	cur      *life          // the newest life; nil before the first start
	prev     *life          // kept for its output
	held     map[*conn]bool // whether it keeps the holder; who merely looks does not
	leaving  bool
}

// Main runs a holder until it has nothing to hold. args is the session's folder; standard input is the connection to
// the controller, which says what to start.
func Main(args []string) int {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(1)
	nameProcess("gcity-hold")
	debug.SetGCPercent(gcPercent)
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "gcity hold is started by gcity itself, once per agent")
		return 2
	}
	signals := make(chan os.Signal, 16)
	// Before all else: who finds us in our folder and without a socket may send HUP, and must not end us with it.
	// If it was ignored (nohup), what is caught here is back to its default in the agent.
	signal.Notify(signals, unix.SIGHUP)
	first, err := inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gcity hold is started by gcity itself, once per agent:", err)
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

// nameProcess sets what ps and top show; the kernel would show the number of the memory file.
func nameProcess(name string) {
	b := append([]byte(name), 0)
	// only a name: nothing depends on it
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
}

// open takes the session's folder and its lock. From then on anybody may connect.
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
		return nil, fmt.Errorf("cannot tell this boot from another: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("cannot become the reaper of the agent's children: %w", err)
	}
	return h, h.settle()
}

// run serves until leave; it is the main goroutine.
func (h *holder) run(first *conn, signals chan os.Signal) int {
	if !h.birth(first) {
		return 1
	}
	// These wait for the agent, because each takes as long as making it.
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

// birth takes the first request, which is a start, and carries it out here and now: no other goroutine runs yet, and
// what waits for none is twice as fast.
func (h *holder) birth(first *conn) bool {
	first.SetReadDeadline(time.Now().Add(birthTimeout))
	req, err := first.request()
	if err != nil || req.Op != wire.OpStart || req.Spec == nil {
		h.complain("nobody said what to hold", err)
		h.removeFiles()
		return false
	}
	first.SetReadDeadline(time.Time{})
	if err := h.begin(&req); err != nil {
		h.removeFiles()
		first.fail(err)
		return false
	}
	_ = first.sendJSON(wire.Done, h.state()) // a controller that is gone finds us by our socket
	return true
}

// birthTimeout is how long whoever executed us may take to say why.
const birthTimeout = 10 * time.Second

func (h *holder) signalled(s os.Signal) {
	switch s {
	case unix.SIGCHLD:
		h.reap()
	case unix.SIGHUP: // a controller misses our socket, or missed it before we had one
		if h.settled() {
			return
		}
		if err := h.settle(); err != nil {
			h.complain("cannot take back its folder", err)
		}
	case unix.SIGTERM: // the machine goes down, or somebody means it
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

// complain writes to the log that all holders share: for what nobody else will hear of.
func (h *holder) complain(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s holder %d of %s: %s: %v\n", time.Now().Format(time.RFC3339), h.pid,
		h.dir, what, err)
}

var errLeaving = &wire.Failure{Cause: wire.NotAlive,
	Message: "the session's holder is about to leave"}
