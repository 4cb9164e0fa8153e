package tmux

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// Pane is the whole of "gcity pane": it becomes the agent of a session, or returns the process's exit code. It is to be
// called before anything else is initialised.
func Pane() int {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "gcity pane is started by gcity itself, in a pane of tmux")
		return 2
	}
	conn, err := net.Dial("unix", os.Args[2])
	if err != nil { // whoever ordered this is gone
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	conn.SetDeadline(time.Now().Add(doorTimeout))
	var in invitation
	if _, err = fmt.Fprintln(conn, os.Args[3]); err == nil {
		err = json.NewDecoder(bufio.NewReader(conn)).Decode(&in)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	no := in.follow()
	// nobody there: the next controller sees that nothing began
	_ = json.NewEncoder(conn).Encode(no)
	fmt.Fprintln(os.Stderr, no.Message)
	return 1
}

// lockNumber is where the lock's descriptor begins to be looked for: above what shells and programs use themselves.
const lockNumber = 200

// follow takes the session's lock, puts this process on record and becomes the agent. It returns only if it cannot.
func (in *invitation) follow() refusal {
	fd, err := proc.Lock(in.Dir+"/"+lockFile, time.Now().Add(500*time.Millisecond))
	if err != nil {
		return refusal{Message: "the session is locked by a process of an " +
			"earlier life: " + err.Error()}
	}
	// from now on all that the agent starts has it
	if _, err := proc.Raise(fd, lockNumber); err != nil {
		return refusal{Message: "cannot keep the session's lock: " + err.Error()}
	}
	if err := os.Chdir(in.Spec.Dir); err != nil {
		return refusal{Own: true, Message: "its folder cannot be used: " + err.Error()}
	}
	rec, err := in.record()
	if err != nil {
		return refusal{Message: err.Error()}
	}
	if err := writeJSON(in.Dir+"/"+recordFile, rec); err != nil {
		return refusal{Message: "cannot write the session's record: " + err.Error()}
	}
	signal.Reset()
	if program, err := in.Spec.FindProgram(); err == nil && program.Path != "" {
		// What this cannot execute is left to the shell.
		_ = syscall.Exec(program.Path, program.Args, in.Spec.Env)
	}
	err = syscall.Exec("/bin/sh", []string{"sh", "-c", in.Spec.Command}, in.Spec.Env)
	disk.Remove(in.Dir + "/" + recordFile)
	switch {
	case errors.Is(err, unix.E2BIG):
		return refusal{Own: true, Message: "its command line or environment is too long for the " +
			"system (one argument holds 128 KiB): put a long prompt in a file and name the file"}
	case errors.Is(err, unix.ENOENT):
		return refusal{Own: true, Message: "there is no /bin/sh to run it"}
	}
	return refusal{Message: "cannot make its process: " + err.Error()}
}

// record is what there is to say of the agent that this process is about to become. tmux tells its own pid in TMUX:
// socket, pid, session.
func (in *invitation) record() (record, error) {
	pid := os.Getpid()
	st, err := proc.ReadStat(pid)
	if err != nil {
		return record{}, fmt.Errorf("cannot read /proc, without which sessions cannot be "+
			"told apart: %w", err)
	}
	tty, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return record{}, fmt.Errorf("cannot find the pane's terminal: %w", err)
	}
	server := 0
	if f := strings.Split(os.Getenv("TMUX"), ","); len(f) >= 3 {
		server, _ = strconv.Atoi(f[len(f)-2]) // 0: then its end is noticed by the next patrol
	}
	s := &in.Spec
	return record{
		Name: s.Name, Agent: s.Agent, City: s.City, ID: s.ID,
		Boot: in.Boot, Server: server, Pane: in.Pane, TTY: tty, PID: pid, Start: st.Start,
		Born: time.Now().UnixNano(),
		Cols: in.Cols, Rows: in.Rows, Ready: in.Ready, StopSignal: s.StopSignal,
		Fingerprint: s.Fingerprint,
	}, nil
}
