package tmux

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

// ErrUnusable means that tmux is missing or too old.
var ErrUnusable = errors.New("install tmux 3.3 or newer (apt-get install tmux), or remove " +
	"[session] provider from city.toml to use the built-in terminals")

// Used reports whether a city has or had sessions in tmux.
func Used(city string) bool {
	_, err := os.Stat(filepath.Join(city, ".gc", "tmux", serverFile))
	return err == nil
}

// Hint returns the shell command that attaches a user to a city's tmux server.
func Hint(city string) string {
	s := server{TmpDir: os.Getenv("TMUX_TMPDIR")}
	if saved, err := readServer(city); err == nil {
		s = saved
	}
	return s.shellCommand(city, "attach")
}

// Find returns the path of tmux. If tmux is missing or too old, the error is an ErrUnusable.
func Find() (program string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), session.CheckLimit)
	defer cancel()
	return find(ctx)
}

func find(ctx context.Context) (program string, err error) {
	program, err = exec.LookPath("tmux")
	if err != nil {
		return "", fmt.Errorf("tmux is not in PATH: %w", ErrUnusable)
	}
	out, err := exec.CommandContext(ctx, program, "-V").Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s -V did not respond: %w", program, context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("%s -V failed (%v): %w", program, err, ErrUnusable)
	}
	if version := strings.TrimSpace(string(out)); !newEnough(version) {
		return "", fmt.Errorf("%s is %s, which is too old: %w", program, version, ErrUnusable)
	}
	return program, nil
}

// newEnough accepts versions such as "tmux 3.3a" and "tmux next-3.6".
func newEnough(version string) bool {
	if strings.Contains(version, "master") {
		return true
	}
	i := strings.IndexAny(version, "0123456789")
	if i < 0 {
		return false
	}
	var major, minor int
	n, err := fmt.Sscanf(version[i:], "%d.%d", &major, &minor)
	return n == 2 && err == nil && (major > 3 || major == 3 && minor >= 3)
}

// Label returns the name of a city's tmux server for tmux -L.
func Label(city string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, filepath.Base(city))
	sum := sha256.Sum256([]byte(city))
	return "gcity-" + name[:min(len(name), 24)] + "-" + hex.EncodeToString(sum[:4])
}

type server struct {
	// the folder of the city that started the server; empty if an older gcity has recorded the server
	City string `json:"city,omitempty"`
	// TMUX_TMPDIR of the process that first opened the city
	TmpDir string `json:"tmpdir,omitempty"`
	Boot   string `json:"boot,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Start  uint64 `json:"start,omitempty"`
}

func readServer(city string) (s server, err error) {
	err = readJSON(filepath.Join(city, ".gc", "tmux", serverFile), &s)
	return s, err
}

// shellCommand returns a command line that runs a verb of tmux on the server of a city.
func (s server) shellCommand(city, verb string) string {
	line := "tmux -L " + Label(city) + " " + verb
	if s.TmpDir != os.Getenv("TMUX_TMPDIR") {
		line = "TMUX_TMPDIR='" + strings.ReplaceAll(s.TmpDir, "'", `'\''`) + "' " + line
	}
	return line
}

const (
	serverFile = "server.json"
	configFile = "tmux.conf"
)

// settings sends all keys to the agent, except the one that detaches users of tmux itself.
const settings = `set -qs exit-empty off
set -qs escape-time 0
set -qs focus-events on
set -qs set-clipboard on
set -qg assume-paste-time 0
set -qas terminal-features ",xterm*:RGB:256:title"
set -qg status off
set -qg prefix None
set -qg prefix2 None
set -qg mouse off
set -qg destroy-unattached off
set -qg detach-on-destroy on
set -qg update-environment ""
set -qg history-limit 5000
set -qg bell-action none
set -qg visual-bell off
set -qg lock-after-time 0
set -qg set-titles off
set -qwg remain-on-exit on
set -qwg remain-on-exit-format ""
set -qwg window-size latest
set -qwg automatic-rename off
set -qwg allow-rename off
set -qwg monitor-activity off
set -qwg monitor-bell off
unbind-key -a -T root
unbind-key -a -T prefix
bind-key -T root C-q if-shell -F "#{m:*` + viewerFlag + `*,#{client_flags}}" "send-keys C-q" "detach-client"
`

// marks a client that gcity has attached; it has no other effect in a session with one pane
const viewerFlag = "active-pane"

type client struct {
	files   folders
	program string
	label   string
	env     []string
	log     *slog.Logger
	execs   atomic.Int64

	mu     sync.Mutex
	server server
}

func newClient(files folders, program string) *client {
	return &client{files: files, program: program, label: Label(files.city), log: files.log}
}

func (c *client) locate() error {
	data, err := disk.ReadFile(filepath.Join(c.files.dir, serverFile))
	if err == nil && len(data) == 0 { // a power failure can leave an empty file
		err = fs.ErrNotExist
	}
	switch {
	case err == nil:
		if err := json.Unmarshal(data, &c.server); err != nil {
			return fmt.Errorf("cannot read %s: %w; you can remove it if no agent is running",
				filepath.Join(c.files.dir, serverFile), err)
		}
		if c.copied() {
			c.server = server{TmpDir: c.server.TmpDir}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot search for the tmux server: %w", err)
	default:
		c.server.TmpDir = os.Getenv("TMUX_TMPDIR")
		if c.files.observe {
			break
		}
		if err := c.writeServer(); err != nil {
			return err
		}
	}
	c.env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SHELL=/bin/sh", "TERM=xterm-256color",
		"LC_ALL=C.UTF-8", "HOME=/"}
	if c.server.TmpDir != "" {
		c.env = append(c.env, "TMUX_TMPDIR="+c.server.TmpDir)
	}
	if c.files.observe {
		return nil
	}
	path := filepath.Join(c.files.dir, configFile)
	if old, err := disk.ReadFile(path); err == nil && string(old) == settings {
		return nil
	}
	if err := disk.Replace(path, []byte(settings), 0o600); err != nil {
		return fmt.Errorf("cannot write tmux's configuration: %w", err)
	}
	return nil
}

// checkMoved returns an error if the city was moved and its server still runs the agents of the old path.
func (c *client) checkMoved() error {
	c.mu.Lock()
	s := c.server
	c.mu.Unlock()
	if s.City == "" || s.City == c.files.city || !c.serverLives() {
		return nil
	}
	return fmt.Errorf("the city was moved from %s, but its agents in tmux still run there; "+
		"`%s` stops them", s.City, s.shellCommand(s.City, "kill-server"))
}

func (c *client) writeServer() error {
	data, err := json.Marshal(c.server)
	if err == nil {
		err = disk.Save(filepath.Join(c.files.dir, serverFile), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot record the tmux server: %w", err)
	}
	return nil
}

func (p *Provider) noteServer(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pid <= 0 || p.ctx.Err() != nil {
		return
	}
	start, ok := p.tmux.recordServer(pid)
	if !ok || p.files.observe || p.watched == pid {
		return
	}
	w, err := proc.Watch(pid, start)
	if err != nil {
		return
	}
	if !p.reg.Async(func() { p.awaitServerEnd(w, pid) }) {
		w.Close()
		return
	}
	p.watched = pid
}

func (c *client) recordServer(pid int) (start uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.PID == pid && c.server.Boot == c.files.boot && c.server.City == c.files.city {
		return c.server.Start, true
	}
	st, err := proc.ReadStat(pid)
	if err != nil {
		return 0, false
	}
	c.server.PID, c.server.Start, c.server.Boot = pid, st.Start, c.files.boot
	c.server.City = c.files.city
	if !c.files.observe {
		if err := c.writeServer(); err != nil {
			c.log.Warn("cannot record the tmux server", "err", err)
		}
	}
	return st.Start, true
}

func (p *Provider) awaitServerEnd(w *proc.Watched, pid int) {
	stop := context.AfterFunc(p.ctx, func() { w.Close() })
	defer stop()
	if w.Wait() != nil {
		return
	}
	w.Close()
	p.mu.Lock()
	if p.watched == pid {
		p.watched = 0
	}
	p.mu.Unlock()
	for _, e := range p.reg.All() {
		if rec, ok := e.life(); ok && rec.Server == pid {
			p.reg.Async(func() { p.recordEnd(e, rec.ID, true) })
		}
	}
}

var (
	errNoServer  = errors.New("no tmux server is running")
	errNoPane    = errors.New("tmux has no such pane")
	errNameTaken = errors.New("tmux already has a session with this name")
)

func isGone(err error) bool { return errors.Is(err, errNoPane) || errors.Is(err, errNoServer) }

// only the command new-session starts the server
func (c *client) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	out, err := c.once(ctx, stdin, args...)
	if !errors.Is(err, errNoServer) || !c.serverLives() {
		return out, err
	}
	// SIGUSR1 makes the running server recreate its socket
	c.mu.Lock()
	s := c.server
	c.mu.Unlock()
	c.log.Warn("the tmux server's socket is missing; asking the server to recreate it", "pid",
		s.PID)
	proc.Signal(s.PID, syscall.SIGUSR1, func(pid int) bool { return proc.Lives(pid, s.Start) })
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		deadline.Pause(ctx, pause)
		if out, err = c.once(ctx, stdin, args...); !errors.Is(err, errNoServer) ||
			!c.serverLives() {
			return out, err
		}
	}
	return "", fmt.Errorf("the city's tmux server, pid %d, is alive but does not respond: %w",
		s.PID, errOther)
}

func (c *client) serverLives() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server.PID > 0 && c.server.Boot == c.files.boot &&
		proc.Lives(c.server.PID, c.server.Start)
}

func (c *client) isServer(pid int) bool {
	c.mu.Lock()
	known := c.server.PID == pid
	c.mu.Unlock()
	return known && c.serverLives()
}

func (c *client) once(ctx context.Context, stdin []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := c.command(ctx, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	text := strings.TrimSpace(complaint.String())
	path, _ := errors.AsType[*fs.PathError](err)
	switch {
	case path != nil && path.Op == "chdir":
		return "", fmt.Errorf("%w: %w", errOther, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "", session.Missing(fmt.Errorf("cannot execute tmux: %w", err))
	case ctx.Err() != nil:
		return "", fmt.Errorf("tmux did not respond in time: %w", context.Cause(ctx))
	case strings.HasPrefix(text, "no server running"),
		strings.HasPrefix(text, "error connecting to"),
		strings.Contains(text, "server exited"), strings.Contains(text, "lost server"):
		return "", fmt.Errorf("%w (%s)", errNoServer, text)
	case strings.HasPrefix(text, "can't find"), text == "no current target":
		// without sessions, tmux says "no current target"
		return out.String(), fmt.Errorf("%w (%s)", errNoPane, text)
	case strings.HasPrefix(text, "duplicate session"):
		return "", errNameTaken
	case text == "":
		return out.String(), fmt.Errorf("%w: %w", errOther, err)
	}
	return out.String(), fmt.Errorf("%w: %s", errOther, text)
}

func (c *client) command(ctx context.Context, args ...string) *exec.Cmd {
	c.execs.Add(1)
	all := append([]string{"-u", "-L", c.label, "-f", filepath.Join(c.files.dir, configFile)},
		args...)
	cmd := exec.CommandContext(ctx, c.program, all...)
	cmd.Env, cmd.Dir = c.env, "/"
	if args[0] == "new-session" {
		cmd.Dir = c.files.dir // a server that this command starts stays in this folder, see cityOf
	}
	return cmd
}

// tmux would interpret a final semicolon as the end of a command
func arg(s string) string {
	if strings.HasSuffix(s, ";") {
		return s[:len(s)-1] + `\;`
	}
	return s
}
