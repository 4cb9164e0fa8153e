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

// Pane is the main function of "gcity pane". It must be called before any other initialization.
func Pane() int {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "gcity pane is for internal use; gcity starts it in tmux panes")
		return 2
	}
	conn, err := net.Dial("unix", os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	conn.SetDeadline(time.Now().Add(taskTimeout))
	var in paneTask
	if _, err = fmt.Fprintln(conn, os.Args[3]); err == nil {
		err = json.NewDecoder(bufio.NewReader(conn)).Decode(&in)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	in.Raw.restore(&in.Spec)
	no := in.follow()
	// the controller might have exited
	_ = json.NewEncoder(conn).Encode(no)
	fmt.Fprintln(os.Stderr, no.Message)
	return 1
}

// programs use lower descriptors themselves
const lockNumber = 200

// follow makes this process the agent. It returns only if it fails.
func (in *paneTask) follow() refusal {
	fd, err := proc.Lock(in.Dir+"/"+lockFile, time.Now().Add(500*time.Millisecond))
	if errors.Is(err, proc.ErrLocked) {
		return refuse("a process from an earlier start still holds the session's lock", err)
	}
	if err != nil {
		return refuse("cannot take the session's lock", err)
	}
	// from here on, the agent's processes inherit the lock
	if _, err := proc.Raise(fd, lockNumber); err != nil {
		return refuse("cannot move the session's lock to another file descriptor", err)
	}
	if err := os.Chdir(in.Spec.Dir); err != nil {
		return refusal{Own: true, Message: "cannot use its folder: " + err.Error()}
	}
	rec, err := in.record()
	if err != nil {
		return refusal{Exhausted: proc.Exhausted(err), Message: err.Error()}
	}
	if err := writeJSON(in.Dir+"/"+recordFile, rec); err != nil {
		return refuse("cannot write the session's record", err)
	}
	signal.Reset()
	if program, err := in.Spec.FindProgram(); err == nil && program.Path != "" {
		// if this fails, a shell runs the command line
		_ = syscall.Exec(program.Path, program.Args, in.Spec.Env)
	}
	err = syscall.Exec("/bin/sh", []string{"sh", "-c", in.Spec.Command}, in.Spec.Env)
	disk.Remove(in.Dir + "/" + recordFile)
	switch {
	case errors.Is(err, unix.E2BIG):
		return refusal{Own: true, Message: "its command line or environment is too long (the " +
			"system allows 128 KiB per argument): put a long prompt in a file and pass the " +
			"file's name"}
	case errors.Is(err, unix.ENOENT):
		return refusal{Own: true, Message: "cannot run the command, because /bin/sh " +
			"does not exist"}
	}
	return refuse("cannot create its process", err)
}

func (in *paneTask) record() (record, error) {
	pid := os.Getpid()
	st, err := proc.ReadStat(pid)
	if err != nil {
		return record{}, fmt.Errorf("cannot read /proc, which is needed to identify sessions: %w",
			err)
	}
	tty, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return record{}, fmt.Errorf("cannot find the pane's terminal: %w", err)
	}
	server := 0
	if f := strings.Split(os.Getenv("TMUX"), ","); len(f) >= 3 {
		// with PID 0, the server's exit is not noticed until the next patrol
		server, _ = strconv.Atoi(f[len(f)-2])
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
