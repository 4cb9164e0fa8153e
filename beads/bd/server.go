package bd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"gcity/beads/foreign"
	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/shell"
)

const (
	doltProgram   = "dolt"
	responseLimit = 2 * time.Second
	upLimit       = 30 * time.Second
	downLimit     = 5 * time.Second
	largeLog      = 10 << 20
)

// Server is a Dolt SQL server that gcity starts and stops for bd. It outlives the process that started it. Two Servers
// with the same State folder control the same process.
type Server struct {
	Data string // folder for the databases
	// folder for the server's configuration, log and process file
	State   string
	Host    string
	Port    int
	Environ []string // environment from which the server's variables are selected

	waits sync.WaitGroup
}

type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // start time of the process, in the kernel's units
	Boot  string `json:"boot"`
}

// LocalServer reads the address of the local Dolt server from bd's configuration. ok is false if no port is configured,
// or if the database is not in the city: then the user runs the server, and its databases are in another folder.
func LocalServer(dir string) (host string, port int, ok bool) {
	var m struct {
		Mode     string `json:"dolt_mode"`
		Host     string `json:"dolt_server_host"`
		Port     int    `json:"dolt_server_port"`
		Database string `json:"dolt_database"`
	}
	at := filepath.Join(dir, ".beads")
	data, err := disk.ReadFile(filepath.Join(at, "metadata.json"))
	if err != nil || json.Unmarshal(data, &m) != nil || m.Mode != "server" || m.Port == 0 ||
		!IsLocal(m.Host) {
		return "", 0, false
	}
	there, err := exists(filepath.Join(at, "dolt", cmp.Or(m.Database, "beads"), ".dolt"))
	return cmp.Or(m.Host, "127.0.0.1"), m.Port, there && err == nil
}

// IsLocal reports whether a configured host is this machine. The empty host is also local.
func IsLocal(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "" || host == "localhost"
}

// Ping returns nil if a MySQL server responds at the address.
func Ping(ctx context.Context, host string, port int) error {
	ctx, cancel := context.WithTimeout(ctx, responseLimit)
	defer cancel()
	at := net.JoinHostPort(host, strconv.Itoa(port))
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", at)
	if err != nil {
		return fmt.Errorf("no Dolt server responds at %s: %w", at, err)
	}
	defer c.Close()
	until, _ := ctx.Deadline()
	greeting := make([]byte, 5) // length, sequence number, protocol version
	err = c.SetReadDeadline(until)
	if err == nil {
		_, err = io.ReadFull(c, greeting)
	}
	if err == nil && greeting[4] != 10 {
		err = errors.New("the server there is not a MySQL server")
	}
	if err != nil {
		return fmt.Errorf("no Dolt server responds at %s: %w", at, err)
	}
	return nil
}

// Ensure starts the server if none responds, and waits until it responds.
func (s *Server) Ensure(ctx context.Context) (started bool, err error) {
	if err := Ping(ctx, s.Host, s.Port); err == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, upLimit)
	defer cancel()
	if s.Runs() {
		return false, s.awaitResponse(ctx, nil)
	}
	died, err := s.start()
	if err != nil {
		return false, err
	}
	return true, s.awaitResponse(ctx, died)
}

// Runs reports whether the server process that gcity started is still running.
func (s *Server) Runs() bool {
	p, err := s.read()
	return err == nil && p.lives()
}

func (p process) lives() bool {
	boot, err := proc.BootID()
	return err == nil && p.Boot == boot && proc.Lives(p.PID, p.Start)
}

func (s *Server) file(name string) string { return filepath.Join(s.State, name) }

func (s *Server) read() (p process, err error) {
	data, err := disk.ReadFile(s.file("server.json"))
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	return p, err
}

// start starts the server in its own session, so that signals to gcity's terminal do not reach it.
func (s *Server) start() (died <-chan error, err error) {
	exe, err := exec.LookPath(doltProgram)
	if err != nil {
		return nil, fmt.Errorf("the program %s, which gcity runs because of [dolt] managed = "+
			"true, is not on the PATH; install it, or set managed = false and run a "+
			"server yourself", doltProgram)
	}
	if err := errors.Join(disk.MkdirAll(s.State, 0o700), disk.MkdirAll(s.Data, 0o700)); err != nil {
		return nil, fmt.Errorf("cannot create the Dolt server's folders: %w", err)
	}
	text, err := json.Marshal(map[string]any{ // YAML is a superset of JSON
		"log_level": "warning", "data_dir": s.Data,
		"listener": map[string]any{"host": s.Host, "port": s.Port},
	})
	if err == nil {
		err = disk.Replace(s.file("server.yaml"), text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the Dolt server's configuration: %w", err)
	}
	log, err := s.openLog()
	if err != nil {
		return nil, fmt.Errorf("cannot write the Dolt server's log: %w", err)
	}
	defer log.Close()
	// the server outlives this process
	cmd := shell.InFolder(context.Background(), s.Data, exe, "sql-server", "--config",
		s.file("server.yaml"))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = environment(Options{Environ: s.Environ}, filepath.Dir(s.Data))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the Dolt server: %w", err)
	}
	err = s.remember(cmd.Process.Pid)
	if err != nil {
		err = errors.Join(fmt.Errorf("cannot record the Dolt server's process: %w", err),
			cmd.Process.Kill())
	}
	end := make(chan error, 1)
	s.waits.Go(func() { end <- cmd.Wait() })
	return end, err
}

func (s *Server) openLog() (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := disk.Lstat(s.file("server.log")); err == nil && info.Size() > largeLog {
		flags |= os.O_TRUNC
	}
	return disk.OpenFile(s.file("server.log"), flags, 0o600)
}

func (s *Server) remember(pid int) error {
	st, err := proc.ReadStat(pid)
	if err != nil {
		return err
	}
	boot, err := proc.BootID()
	if err != nil {
		return err
	}
	data, err := json.Marshal(process{pid, st.Start, boot})
	if err != nil {
		return err
	}
	return disk.Save(s.file("server.json"), data, 0o600)
}

func (s *Server) awaitResponse(ctx context.Context, died <-chan error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := Ping(ctx, s.Host, s.Port)
		if err == nil {
			return nil
		}
		select {
		case why := <-died:
			return fmt.Errorf("the Dolt server exited immediately (%w): %s", exitReason(why),
				s.lastLine())
		case <-ctx.Done():
			return fmt.Errorf("the Dolt server was started but does not respond: %w; see %s", err,
				s.file("server.log"))
		case <-tick.C:
		}
	}
}

func exitReason(err error) error {
	if err == nil {
		return errors.New("exit code 0")
	}
	return err
}

func (s *Server) lastLine() string {
	data, err := disk.ReadFile(s.file("server.log"))
	if err != nil {
		return err.Error()
	}
	return foreign.FirstLine(string(data[max(0, len(data)-300):]))
}

// Stop stops the server if gcity started it.
func (s *Server) Stop(ctx context.Context) (stopped bool, err error) {
	p, err := s.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("cannot check whether this city's Dolt server is running: %w",
			err)
	case !p.lives():
		return false, disk.Remove(s.file("server.json"))
	}
	limit := downLimit
	if until, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(until)/2)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		proc.Signal(p.PID, sig, func(int) bool { return p.lives() })
		if proc.WaitPid(p.PID, limit) || !p.lives() {
			return true, disk.Remove(s.file("server.json"))
		}
	}
	return false, fmt.Errorf("the Dolt server (pid %d) did not exit", p.PID)
}
