package folder

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"gcity/agent"
	"gcity/config"
	"gcity/controller/machine"
	"gcity/internal/deadline"
)

// ThisHost is what this machine and this process's environment contribute to the agents of a city.
func ThisHost(dir string) agent.Host {
	return agent.Host{Environ: os.Environ(), BinDir: BinDir(dir), Find: Finder()}
}

// What looking for programs may take.
const (
	findTime  = time.Second // of one folder
	findsMost = 32          // at folders that do not answer
)

// Finder looks for programs as a shell does. A folder that does not answer in time has none.
func Finder() func(program, path string) bool {
	looks := deadline.New[bool](findsMost)
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

// runs reports whether a file is there that may be run.
func runs(looks *deadline.Calls[bool], file string) bool {
	found, ok := looks.Do(context.Background(), file, time.Time{}, findTime, func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
	return ok && found
}

// StopLimit is how long the stop of a city may take.
func StopLimit(c *config.City, dir string) time.Duration {
	return machine.StopLimit(Plan(c, dir), c.Daemon.ShutdownTimeout)
}
