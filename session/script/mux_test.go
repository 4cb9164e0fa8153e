package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// Under the name mux, the test binary is a minimal script that runs sessions. It logs its calls.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "controller" {
		fmt.Fprintln(os.Stderr, controller(os.Args[1], os.Args[2], os.Args[3]))
		syscall.Exit(1)
	}
	if filepath.Base(os.Args[0]) == "mux" {
		code, err := mux(os.Args[1], os.Args[2], os.Args[3:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		syscall.Exit(code) // os.Exit would take a second with the race detector
	}
	os.Exit(m.Run())
}

func muxScript(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mux")
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func mux(op, name string, args []string) (int, error) {
	dir := os.Getenv("GC_EXEC_STATE_DIR")
	in := ""
	if op != "attach" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return 1, err
		}
		in = string(data)
	}
	if err := note(dir, op, name, args, in); err != nil {
		return 1, err
	}
	file := func(ext string) string { return filepath.Join(dir, name+ext) }
	switch op {
	case "start":
		if _, err := os.Stat(filepath.Join(dir, "hold")); err == nil {
			return 0, hang(file(".hangs"))
		}
		return 0, muxStart(in, file)
	case "stop":
		if _, err := os.Stat(filepath.Join(dir, "stuck")); err == nil {
			return 0, errors.New("it cannot be reached")
		}
		if pid := muxPID(file(".pid")); pid > 0 {
			syscall.Kill(-pid, syscall.SIGKILL)
		}
		return 0, os.RemoveAll(file(".pid"))
	case "is-running":
		_, err := os.Stat(file(".pid"))
		fmt.Println(err == nil)
	case "list-running":
		found, err := filepath.Glob(file("*.pid"))
		for _, f := range found {
			fmt.Println(strings.TrimSuffix(filepath.Base(f), ".pid"))
		}
		return 0, err
	case "nudge", "send-keys", "interrupt":
		if _, err := os.Stat(filepath.Join(dir, "poor")); err == nil {
			return unknownOp, nil
		}
		if _, err := os.Stat(filepath.Join(dir, "deaf")); err == nil {
			return 0, hang(file(".hangs"))
		}
		if op != "interrupt" {
			return 0, nil
		}
		return 0, syscall.Kill(-muxPID(file(".pid")), syscall.SIGINT)
	case "set-meta":
		return 0, os.WriteFile(file(".meta-"+args[0]), []byte(in), 0o600)
	case "get-meta":
		data, err := os.ReadFile(file(".meta-" + args[0]))
		if errors.Is(err, os.ErrNotExist) {
			return 0, nil
		}
		fmt.Print(string(data))
		return 0, err
	case "peek":
		switch name {
		case "flood":
			for i := range 20_000 {
				fmt.Printf("line %d of a flood of output\n", i)
			}
		case "hang":
			return 0, hang(file(".hangs"))
		case "wrong":
			return 0, errors.New("the first line\nthere is \x1b[31mno such\x07 screen")
		}
	case "get-last-activity":
		if _, err := os.Stat(filepath.Join(dir, "together")); err == nil {
			return 0, together(filepath.Join(dir, name+".asked"))
		}
		fmt.Println("2026-03-01T12:00:00Z")
	default:
		return unknownOp, nil
	}
	return 0, nil
}

func note(dir, op, name string, args []string, in string) error {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	line, err := json.Marshal(append(append([]string{op, name}, args...), in))
	if err != nil {
		return err
	}
	_, err = log.Write(append(line, '\n'))
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "environ"), []byte(strings.Join(os.Environ(), "\n")), 0o600))
}

func muxStart(in string, file func(string) string) error {
	var o startRequest
	if err := json.Unmarshal([]byte(in), &o); err != nil {
		return err
	}
	if o.Command == "none" {
		return errors.New("no space left")
	}
	cmd := exec.Command("/bin/sh", "-c", o.Command)
	cmd.Dir, cmd.SysProcAttr = o.WorkDir, &syscall.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), "MUX=1")
	for k, v := range o.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout = os.Stdout // simulates a careless script: its agents inherit its output
	if err := cmd.Start(); err != nil {
		return err
	}
	err := os.WriteFile(file(".pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	if strings.HasSuffix(o.Command, "# fails") {
		err = errors.New("the connection is lost")
	}
	return err
}

func muxPID(path string) int {
	data, _ := os.ReadFile(path)
	pid, _ := strconv.Atoi(string(data))
	return pid
}

// together waits until three script calls are in progress at the same time.
func together(mark string) error {
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	var err error
	if !eventually.Poll(func() bool {
		var all []string
		all, err = filepath.Glob(filepath.Join(filepath.Dir(mark), "*.asked"))
		return err != nil || len(all) == 3
	}) {
		return errors.New("the calls are not concurrent")
	}
	fmt.Println("2046-03-01T12:00:00Z")
	return err
}

func hang(path string) error {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: filepath.Base(path) == "gc-start.hangs"}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return err
	}
	time.Sleep(time.Hour) // not a wait, but the simulated hang
	return nil
}
