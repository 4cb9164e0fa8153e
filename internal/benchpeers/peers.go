package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	gcityName = "gcity"
	floorName = "floor"
)

type peer struct {
	name      string
	program   string
	configure func(s *site) error
	run       func(s *site) []string
	// nil = the manager starts the agents on its own
	wake   func(s *site) []string
	status func(s *site) []string // nil = the manager has no such command
	stop   func(s *site) []string // nil = kill -9
	// nil = the manager cannot do that
	peek func(*site, int) []string
}

func peers(gcity, self string) []peer {
	return []peer{
		floorPeer(self), gcityPeer(gcity),
		runitPeer(), tmuxPeer(), supervisordPeer(), composePeer(),
	}
}

func choose(all []peer, only []string) (found []peer, missing []string, err error) {
	for _, name := range only {
		if !slices.ContainsFunc(all, func(p peer) bool { return p.name == name }) {
			return nil, nil, fmt.Errorf("unknown peer %q", name)
		}
	}
	for _, p := range all {
		if len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		if path, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, p.name)
		} else {
			p.program = path
			found = append(found, p)
		}
	}
	return found, missing, nil
}

func floorPeer(self string) peer {
	return peer{
		name: floorName, program: self,
		configure: func(s *site) error {
			return s.write("floor.txt", s.each("%[2]s\n"))
		},
		run: func(s *site) []string { return []string{"floor", s.path("floor.txt")} },
	}
}

func gcityPeer(program string) peer {
	return peer{
		name: gcityName, program: program,
		configure: func(s *site) error {
			const head = "[workspace]\nname = \"bench\"\n[daemon]\nmax_restarts = 0\n"
			return s.write("city.toml", head+s.each("[[agents]]\nname = %q\nstart_command = %q\n"))
		},
		run:    func(s *site) []string { return []string{"--headless", "--city", s.dir} },
		status: func(s *site) []string { return []string{"status", "--city", s.dir} },
		stop:   func(s *site) []string { return []string{"stop", "--city", s.dir} },
		peek: func(s *site, i int) []string {
			return []string{"agent", "peek", s.names[i], "--city", s.dir}
		},
	}
}

// runsvdir stops all services on SIGHUP.
func runitPeer() peer {
	return peer{
		name: "runit", program: "runsvdir",
		configure: func(s *site) error {
			for _, name := range s.names {
				if err := os.MkdirAll(s.path("sv", name), 0o755); err != nil {
					return err
				}
				// runit passes no arguments to a service, so the service's script is the agent
				if err := s.script(filepath.Join("sv", name, "run"), name); err != nil {
					return err
				}
			}
			return nil
		},
		run: func(s *site) []string { return []string{s.path("sv")} },
		status: func(s *site) []string {
			line := []string{"/usr/bin/env", "sv", "status"}
			for _, name := range s.names {
				line = append(line, s.path("sv", name))
			}
			return line
		},
		stop: func(s *site) []string { return []string{"/bin/kill", "-HUP", fmt.Sprint(s.pid)} },
	}
}

// tmuxPeer restarts agents through a hook. tmux 3.3 can detect an exit late.
func tmuxPeer() peer {
	client := func(s *site, args ...string) []string {
		return append([]string{"-S", s.path("tmux")}, args...)
	}
	return peer{
		name: "tmux", program: "tmux",
		configure: func(s *site) error {
			const head = "set -g remain-on-exit on\nset-hook -g pane-died 'respawn-pane -k'\n"
			return s.write("tmux.conf", head+s.each("new-session -d -s %s %s\n"))
		},
		run:    func(s *site) []string { return client(s, "-D", "-f", s.path("tmux.conf")) },
		wake:   func(s *site) []string { return client(s, "list-sessions") },
		status: func(s *site) []string { return client(s, "list-panes", "-a") },
		stop:   func(s *site) []string { return client(s, "kill-server") },
		peek: func(s *site, i int) []string {
			return client(s, "capture-pane", "-p", "-t", s.names[i])
		},
	}
}

func supervisordPeer() peer {
	control := func(s *site, verb string) []string {
		return []string{"/usr/bin/env", "supervisorctl", "-c", s.path("supervisord.conf"), verb}
	}
	return peer{
		name: "supervisord", program: "supervisord",
		configure: func(s *site) error {
			head := strings.ReplaceAll(`[unix_http_server]
file=DIR/supervisord.sock
[supervisord]
nodaemon=true
logfile=DIR/supervisord.log
pidfile=DIR/supervisord.pid
childlogdir=DIR
minfds=8192
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://DIR/supervisord.sock
`, "DIR", s.dir)
			const agent = "[program:%s]\ncommand=%s\nautorestart=true\n" +
				"stdout_logfile=NONE\nstderr_logfile=NONE\n"
			return s.write("supervisord.conf", head+s.each(agent))
		},
		run:    func(s *site) []string { return []string{"-n", "-c", s.path("supervisord.conf")} },
		status: func(s *site) []string { return control(s, "status") },
		stop:   func(s *site) []string { return control(s, "shutdown") },
	}
}

func composePeer() peer {
	client := func(s *site, args ...string) []string {
		return append(args, "--use-uds", "--unix-socket", s.path("compose.sock"))
	}
	return peer{
		name: "process-compose", program: "process-compose",
		configure: func(s *site) error {
			const head = "version: \"0.5\"\nprocesses:\n"
			const agent = "  %s:\n    command: exec %s\n    availability:\n      restart: always\n"
			return s.write("compose.yaml", head+s.each(agent))
		},
		run: func(s *site) []string {
			file, log := s.path("compose.yaml"), s.path("compose.log")
			return client(s, "up", "-f", file, "-t=false", "-L", log)
		},
		status: func(s *site) []string { return client(s, "process", "list") },
		stop:   func(s *site) []string { return client(s, "down") },
	}
}
