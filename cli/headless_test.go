package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/cli/exit"
	"gcity/internal/eventually"
)

func headlessCity(t *testing.T, stderr *os.File, env ...string) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	text := "[workspace]\nname = \"svc\"\n[[agents]]\nname = \"a\"\nstart_command = \"exec sleep 1000\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcity", "--headless", "--city", dir)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), "GORACE="+quickEnd), env...), stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out, err := exec.Command("gcity", "stop", "--city", dir).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "nothing is running for") {
			t.Errorf("stop: %v\n%s", err, out)
		}
		if left := ofCity(dir); len(left) > 0 {
			t.Errorf("left running: %v", left)
		}
	})
	return cmd, dir
}

func systemd(t *testing.T) (socket string, await func(what ...string)) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var heard []string
	return socket, func(what ...string) {
		t.Helper()
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("waiting for %q: %v; received %q", what, err, heard)
			}
			heard = append(heard, string(buf[:n]))
			if !slices.ContainsFunc(what, func(w string) bool { return !strings.Contains(string(buf[:n]), w) }) {
				return
			}
		}
	}
}

func checkNotifications(t *testing.T, cmd *exec.Cmd, await func(what ...string), status string) {
	t.Helper()
	await("READY=1")
	await("WATCHDOG=1", "STATUS="+status)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await("RELOADING=1", "MONOTONIC_USEC=")
	await("READY=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit of the service: got %v", err)
	}
}

func TestNotify(t *testing.T) {
	socket, await := systemd(t)
	cmd, _ := headlessCity(t, nil, "NOTIFY_SOCKET="+socket)
	checkNotifications(t, cmd, await, "1 of 1 agents running")
}

func TestStuckStderr(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		var full error
		if err := raw.Write(func(fd uintptr) bool {
			for full == nil {
				_, full = syscall.Write(int(fd), bytes.Repeat([]byte("."), size))
			}
			return true
		}); err != nil || full != syscall.EAGAIN {
			t.Fatal(err, full)
		}
	}
	cmd, dir := headlessCity(t, w)
	var out []byte
	eventually.True(t, "the city is running", func() bool {
		out, err = exec.Command("gcity", "status", "--city", dir).CombinedOutput()
		return err == nil && strings.Contains(string(out), "1 agent: 1 running · background (gcity --headless")
	}, func() string { return fmt.Sprintf("%v\n%s", err, out) })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit of the controller: got %v", err)
	}
}

// A controller keeps running after the reader of its stderr has exited.
func TestClosedStderr(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, dir := headlessCity(t, w)
	w.Close()
	for logs := bufio.NewScanner(r); !strings.Contains(logs.Text(), "the city is running"); {
		if !logs.Scan() {
			t.Fatalf("the city did not start: %v", logs.Err())
		}
	}
	r.Close()
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil { // the controller logs the reload
		t.Fatal(err)
	}
	log := filepath.Join(dir, ".gc", "controller.log")
	eventually.True(t, "the reload is in the log file", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && bytes.Contains(text, []byte("msg=reload"))
	})
	out, err := exec.Command("gcity", "stop", "--city", dir).CombinedOutput()
	if waited := cmd.Wait(); err != nil || waited != nil {
		t.Errorf("stop: %v\n%s\nexit of the controller: %v", err, out, waited)
	}
}

// A service that could not stop an agent exits with a code after which systemd does not start it again.
func TestServiceThatCannotStopAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"city.toml": "[workspace]\nname = \"svc\"\n[session]\nprovider = \"exec:./sessions\"\n" +
			"[[agents]]\nname = \"a\"\nstart_command = \"x\"\n",
		"sessions": "#!/bin/sh\ncd $GC_CITY\ncase $1 in\nstart) cat >/dev/null; >up ;;\nstop) echo no >&2; exit 1 ;;\n" +
			"is-running) [ -e up ] && echo true || echo false ;;\n" +
			"list-running) [ ! -e up ] || echo gc-svc-a ;;\n*) exit 2 ;;\nesac\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("gcity", "--headless", "--city", dir)
	cmd.Env = append(os.Environ(), "GORACE="+quickEnd)
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		if strings.Contains(lines.Text(), "the city is running") {
			eventually.True(t, "the agent runs", func() bool {
				_, err := os.Stat(filepath.Join(dir, "up"))
				return err == nil
			})
		}
		// the second signal shortens the stop
		if strings.Contains(lines.Text(), "the city is running") || strings.Contains(lines.Text(), `"asked":1`) {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != exit.CodeStopFailed {
		t.Errorf("exit of the service: got %v, want exit code %d", err, exit.CodeStopFailed)
	}
}

// A service aborted by systemd's watchdog exits with 2, the exit code of the Go runtime. systemd then restarts it.
func TestAbortedServiceExitsWithTwo(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	cmd, _ := headlessCity(t, w)
	for logs := bufio.NewScanner(r); !strings.Contains(logs.Text(), "the city is running"); {
		if !logs.Scan() {
			t.Fatalf("the city did not start: %v", logs.Err())
		}
	}
	var rest sync.WaitGroup
	defer rest.Wait()
	defer r.Close()
	rest.Go(func() { _, _ = io.Copy(io.Discard, r) })
	if err := cmd.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("exit of an aborted service: got %v", err)
	}
}
