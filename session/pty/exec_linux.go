package pty

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const startDir = "/"

type launcher struct {
	program program
	env     []string
	errlog  *os.File
	group   func() string
	log     *slog.Logger
}

// execHolder starts a holder in a new Unix session, so that it gets no signals from this process's terminal.
func (l *launcher) execHolder(dir string) (*link, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot create a socket for the holder: %w", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "holder")
	defer ours.Close()
	defer unix.Close(fds[1])
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	binary := l.program.binary
	pid, embedded, err := l.inGroup([]string{binary, "hold", dir}, &syscall.ProcAttr{
		Dir:   startDir,
		Env:   l.env, // the holder's own environment; the agent's is Spec.Env
		Files: []uintptr{uintptr(fds[1]), l.errlog.Fd(), l.errlog.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		conn.Close()
		if errors.Is(err, unix.ENOENT) {
			return nil, fmt.Errorf("%s no longer exists (%w); restart the controller with the "+
				"current gcity binary", binary, err)
		}
		return nil, fmt.Errorf("cannot execute %s: %w", binary, err)
	}
	to := newLink(conn.(*net.UnixConn), pid, true)
	to.sameBuild = embedded
	return to, nil
}

// inGroup starts a holder in the configured control group. If that fails, it uses this process's group, because an
// agent without limits is better than none.
func (l *launcher) inGroup(args []string, attr *syscall.ProcAttr) (pid int, embedded bool,
	err error) {
	dir := ""
	if l.group != nil {
		dir = l.group()
	}
	if dir != "" {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == nil {
			sys := *attr.Sys
			sys.UseCgroupFD, sys.CgroupFD = true, fd
			limited := *attr
			limited.Sys = &sys
			pid, embedded, err = l.program.execute(args, &limited)
			_ = unix.Close(fd)
		}
		if err == nil {
			return pid, embedded, nil
		}
		l.log.Warn("starting a session without the limits of its control "+
			"group", "group", dir, "err",
			err)
	}
	return l.program.execute(args, attr)
}

// dial connects to a socket in dir, even if its path is too long for a socket address.
func dial(dir, socket string) (*net.UnixConn, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix",
		Name: fmt.Sprintf("/proc/self/fd/%d/%s", fd, socket)})
}

// peer returns the PID of the process at the other end. It returns an error if that process belongs to another user.
func peer(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return 0, err
	}
	if int(cred.Uid) != os.Getuid() {
		return 0, fmt.Errorf("the holder's socket belongs to pid %d of user %d", cred.Pid,
			cred.Uid)
	}
	return int(cred.Pid), nil
}
