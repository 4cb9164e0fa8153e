package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/internal/disk"
)

// SpawnHeadless starts `gcity --headless` in a new session. It returns the process ID when the controller's socket
// responds.
func SpawnHeadless(ctx context.Context, e *env.Env, dir string) (int, error) {
	if CannotSpawn() {
		return 0, cannotSpawn("controller", "daemon")
	}
	if err := disk.MakePrivate(dir + "/.gc"); err != nil {
		return 0, err
	}
	log, err := disk.OpenFile(folder.LogPath(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("cannot write the controller's log: %w", err)
	}
	cmd := &exec.Cmd{Dir: dir,
		Args: append([]string{"gcity", "--headless", "--city", dir}, e.SourceArgs()...)}
	died, began, err := spawn(cmd, log, "the controller")
	if err != nil {
		return 0, err
	}
	if err := awaitController(ctx, dir, cmd.Process.Pid, died); err != nil {
		return 0, asChild(notStarted("the controller", err, tailOf(folder.LogPath(dir), began)))
	}
	return cmd.Process.Pid, nil
}

// CheckHeadless returns an error if SpawnHeadless would fail for a city that this process runs.
func CheckHeadless(e *env.Env, dir string) error {
	if CannotSpawn() {
		return cannotSpawn("controller", "daemon")
	}
	if _, err := program(); err != nil {
		return err
	}
	o := CityOptions{Dir: dir, Logger: folder.QuietLogger()}
	_, err := o.load(e)
	return err
}

// CannotSpawn reports whether this process belongs to an agent's session or an automation's run. When that session or
// run ends, gcity kills all its processes, including a controller in the background.
func CannotSpawn() bool { return os.Getenv("GC_SESSION_ID") != "" || os.Getenv("GC_RUN") != "" }

func cannotSpawn(what, group string) error {
	return fmt.Errorf("no %s is running, and one started from within an agent or an automation "+
		"would end with it; start it from a terminal, or run `gcity %s install --now` to make "+
		"it a service", what, group)
}

// spawn starts this program in a new session, with its output in log, which it closes. died receives the result of the
// process. began is the size of the log before that.
func spawn(cmd *exec.Cmd, log *os.File, what string) (died <-chan error, began int64, err error) {
	defer log.Close()
	if cmd.Path, err = program(); err != nil {
		return nil, 0, err
	}
	if began, err = log.Seek(0, 2); err != nil {
		return nil, 0, err
	}
	closeInheritedOnExec()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, 0, fmt.Errorf("cannot start %s: %w", what, err)
	}
	ended := make(chan error, 1)
	// this goroutine deliberately runs until the child or this process exits
	var wg sync.WaitGroup
	wg.Go(func() { ended <- cmd.Wait() })
	return ended, began, nil
}

// program returns the path of this program. If its file was removed, Linux can still execute it.
func program() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		_, err = os.Stat(exe)
	}
	if _, running := os.Stat("/proc/self/exe"); errors.Is(err, os.ErrNotExist) && running == nil {
		return "/proc/self/exe", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot find this program to start it again: %w", err)
	}
	return exe, nil
}

// closeInheritedOnExec prevents new processes from inheriting the file descriptors that this process inherited, except
// stdin, stdout and stderr. Otherwise, the lock of a script that started the city is held as long as any agent runs.
func closeInheritedOnExec() {
	open, _ := os.ReadDir("/dev/fd") // empty on systems without /dev/fd
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// notStarted returns the error for a program that did not start. It omits the exit code if the program printed
// something.
func notStarted(what string, err error, printed string) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.Exited() && printed != "" {
		return &startError{text: what + " did not start; it printed:" + printed, err: err}
	}
	return fmt.Errorf("%s did not start: %w%s", what, err, printed)
}

type startError struct {
	text string
	err  error
}

func (e *startError) Error() string { return e.text }

func (e *startError) Unwrap() error { return e.err }

func asChild(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := ended.ExitCode(); code == exit.CodeConflict || code == exit.CodeConfig {
			return &exit.Failure{Code: code, Err: err}
		}
	}
	return err
}

func awaitController(ctx context.Context, dir string, pid int, died <-chan error) error {
	return awaitReady(ctx, died, func() (ready, another bool) {
		near, closeNear, err := folder.Dial(dir)
		if err != nil {
			return false, false
		}
		defer closeNear()
		s, err := near.Snapshot(ctx)
		return err == nil && s.PID == pid, false
	})
}

// awaitReady waits until look returns ready. It returns an error if the started process has died, unless another
// process might become ready instead.
func awaitReady(ctx context.Context, died <-chan error, look func() (ready, another bool)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var dead error
	for {
		switch ready, another := look(); {
		case ready:
			return nil
		case dead != nil && !another:
			return dead
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-died:
			dead = cmp.Or(err, errors.New("the process exited immediately"))
		case <-tick.C:
		}
	}
}

func tailOf(path string, from int64) string {
	data, err := disk.ReadFile(path)
	if err != nil || int64(len(data)) <= from {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data[from:])), "\n")
	return "\n" + strings.Join(lines[max(0, len(lines)-8):], "\n")
}
