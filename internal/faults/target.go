package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type target struct {
	gcity  string
	dir    string
	env    []string
	agents int
	extra  int      // number of agents that edits have added
	spoken []string // the text that each agent prints
	ctl    *exec.Cmd
	done   chan struct{} // closed when ctl has exited

	mounted bool
}

const commandLimit = 60 * time.Second

func newTarget(gcity, parent string, agents int) *target {
	t := &target{gcity: gcity, dir: filepath.Join(parent, "city"), agents: agents,
		spoken: make([]string, agents)}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GC_") && !strings.HasPrefix(kv, "GCITY_") &&
			!strings.HasPrefix(kv, "XDG_") {
			t.env = append(t.env, kv)
		}
	}
	t.env = append(t.env, "HOME="+parent, "GC_HOME="+parent+"/gc", "XDG_RUNTIME_DIR="+parent,
		"GCITY_TRUST=all")
	return t
}

func (t *target) write() error {
	if err := t.mountSmall(); err != nil {
		return err
	}
	auto := filepath.Join(t.dir, ".gc", "formulas", "automations", "tick")
	if err := os.MkdirAll(auto, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(t.dir, ".gc"), 0o700); err != nil {
		return err
	}
	text := "[automation]\ngate = \"cooldown\"\ninterval = \"2s\"\nexec = \"sleep 0.1\"\n"
	return errors.Join(
		os.WriteFile(filepath.Join(auto, "automation.toml"), []byte(text), 0o600),
		os.WriteFile(t.file(), []byte(t.config()), 0o600),
	)
}

func (t *target) file() string { return filepath.Join(t.dir, "city.toml") }

func (t *target) config() string {
	var b strings.Builder
	b.WriteString("[workspace]\nname = \"faults\"\n[daemon]\npatrol_interval = \"1s\"\n" +
		"max_restarts = 0\n" +
		"restart_backoff = \"100ms\"\nshutdown_timeout = \"2s\"\n")
	for i := range t.agents {
		fmt.Fprintf(&b, "[[agents]]\nname = %q\nstart_command = '''%s'''\n", t.name(i), t.line(i))
	}
	for i := range t.extra {
		fmt.Fprintf(&b, "[[agents]]\nname = \"extra-%d\"\nstart_command = \"exec sleep 100000\"\n",
			i)
	}
	return b.String()
}

func (t *target) name(i int) string { return fmt.Sprintf("agent-%d", i) }

// line returns the command of agent i. The four kinds of commands react differently to a stop.
func (t *target) line(i int) string {
	said := "said=" + t.spoken[i] + "; "
	switch i % 4 {
	case 0:
		return said + `while :; do echo "$said $(date)"; sleep 1; done`
	case 1:
		return said + `trap "" INT TERM HUP; while :; do sleep 1; done`
	case 2:
		return said + `(setsid sleep 100000 &); exec sleep 100000`
	}
	return said + `exec sleep 100000`
}

func (t *target) wanted() []string {
	var names []string
	for i := range t.agents {
		names = append(names, t.name(i))
	}
	for i := range t.extra {
		names = append(names, fmt.Sprintf("extra-%d", i))
	}
	return names
}

func (t *target) begin() error {
	log, err := os.OpenFile(filepath.Join(filepath.Dir(t.dir), "controller.log"),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	t.ctl = exec.Command(t.gcity, "--headless", "--city", t.dir)
	t.ctl.Env, t.ctl.Stdout, t.ctl.Stderr = t.env, log, log
	t.ctl.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := t.ctl.Start(); err != nil {
		return err
	}
	done, cmd := make(chan struct{}), t.ctl
	t.done = done
	go func() { _ = cmd.Wait(); close(done) }()
	return nil
}

func (t *target) socket() string { return filepath.Join(t.dir, ".gc", "controller.sock") }

func (t *target) kill() error {
	err := t.ctl.Process.Kill()
	t.wait()
	return err
}

func (t *target) wait() { <-t.done }

func (t *target) command(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.gcity, append(args, "--city", t.dir)...)
	cmd.Env = t.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

type view struct {
	Name  string `json:"name"`
	State string `json:"state"`
	PID   int    `json:"pid"`
}

// reach connects to the controller. Without a controller, list reads the sessions itself.
func (t *target) reach() error {
	conn, err := net.DialTimeout("unix", t.socket(), time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (t *target) list() ([]view, error) {
	out, err := t.command("agent", "list", "--json")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	var page struct {
		Items []view `json:"items"`
	}
	if err := json.Unmarshal(out, &page.Items); err == nil {
		return page.Items, nil
	}
	return page.Items, json.Unmarshal(out, &page)
}

type process struct {
	pid     int
	agent   string
	session string
}

func (t *target) processes() []process {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile("/proc/" + d.Name() + "/environ")
		if err != nil || !bytes.Contains(environ, []byte("GC_CITY_PATH="+t.dir+"\x00")) {
			continue
		}
		p := process{pid: pid}
		for kv := range strings.SplitSeq(string(environ), "\x00") {
			if value, ok := strings.CutPrefix(kv, "GC_AGENT="); ok {
				p.agent = value
			} else if value, ok := strings.CutPrefix(kv, "GC_SESSION_ID="); ok {
				p.session = value
			}
		}
		if p.session != "" {
			all = append(all, p)
		}
	}
	return all
}

func (t *target) holders() []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if args := strings.Split(string(line), "\x00"); err == nil && len(args) > 2 &&
			args[1] == "hold" &&
			strings.HasPrefix(args[2], t.dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (t *target) destroy() {
	if t.mounted {
		defer func() { _ = syscall.Unmount(t.dir, syscall.MNT_DETACH) }()
	}
	if t.ctl == nil {
		return
	}
	_ = t.ctl.Process.Kill()
	t.wait()
	for _, pid := range t.holders() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, p := range t.processes() {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}
