package folder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller/machine"
	"gcity/internal/deadline"
)

// ThisHost returns the properties of this machine and of this process's environment that affect a city's agents.
func ThisHost(dir string) agent.Host {
	return agent.Host{Environ: os.Environ(), BinDir: BinDir(dir), Find: Finder()}
}

// hostOf is like ThisHost, but uses the running controller's environment, because agents inherit it.
func hostOf(dir string, running *city.Snapshot) agent.Host {
	host := ThisHost(dir)
	if running == nil || running.PID <= 0 {
		return host
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", running.PID))
	if text := strings.TrimRight(string(environ), "\x00"); err == nil && text != "" {
		host.Environ = strings.Split(text, "\x00")
	}
	return host
}

const (
	findTime       = time.Second
	maxHungFolders = 32
)

// Finder returns a function that searches for programs like a shell does, but skips folders that do not respond in
// time.
func Finder() func(program, path string) bool {
	looks := deadline.New[bool](maxHungFolders)
	return func(program, path string) bool {
		if filepath.IsAbs(program) {
			return runs(looks, program)
		}
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) && runs(looks, filepath.Join(dir, program)) {
				return true
			}
		}
		return false
	}
}

func runs(looks *deadline.Calls[bool], file string) bool {
	found, ok := looks.Do(context.Background(), file, time.Time{}, findTime, func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
	return ok && found
}

// StopLimit returns how long stopping a city may take.
func StopLimit(c *config.City, dir string) time.Duration {
	return machine.StopLimit(Plan(c, dir), c.Daemon.ShutdownTimeout)
}
