package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	exe, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("cannot find this program to start it again: %w", err)
	}
	if err := disk.MakePrivate(dir + "/.gc"); err != nil {
		return 0, err
	}
	log, err := disk.OpenFile(folder.LogPath(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, fmt.Errorf("cannot write the controller's log: %w", err)
	}
	defer log.Close()
	began, err := log.Seek(0, 2)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(exe, append([]string{"--headless", "--city", dir}, e.SourceArgs()...)...)
	cmd.Args[0] = "gcity"
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("cannot start the headless controller: %w", err)
	}
	died := make(chan error, 1)
	// this goroutine deliberately runs until the controller or this process exits
	var wg sync.WaitGroup
	wg.Go(func() { died <- cmd.Wait() })
	if err := awaitController(ctx, dir, cmd.Process.Pid, died); err != nil {
		return 0, asChild(fmt.Errorf("the headless controller did not start: %w%s", err,
			tail(dir, began)))
	}
	return cmd.Process.Pid, nil
}

func asChild(err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := ended.ExitCode(); code == exit.CodeConflict || code == exit.CodeConfig {
			return &exit.Failure{Code: code, Err: err}
		}
	}
	return err
}

func awaitController(ctx context.Context, dir string, pid int, died <-chan error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if near, closeNear, err := folder.Dial(dir); err == nil {
			s, err := near.Snapshot(ctx)
			closeNear()
			if err == nil && s.PID == pid {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-died:
			if err == nil {
				err = errors.New("the process exited at once")
			}
			return err
		case <-tick.C:
		}
	}
}

func tail(dir string, from int64) string { return tailOf(folder.LogPath(dir), from) }

func tailOf(path string, from int64) string {
	data, err := disk.ReadFile(path)
	if err != nil || int64(len(data)) <= from {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data[from:])), "\n")
	return "\n" + strings.Join(lines[max(0, len(lines)-8):], "\n")
}
