// Package gobuild builds this repository's programs for tests.
package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build runs "go build" with these arguments in the current folder. The program has the race detector if the running
// program has it: go test has then compiled most of its packages already. Static builds a static program without it.
func Build(args ...string) error {
	if raceDetector {
		return build("CGO_ENABLED=1", append([]string{"-race"}, args...))
	}
	return Static(args...)
}

// Static is Build without the race detector.
func Static(args ...string) error { return build("CGO_ENABLED=0", args) }

func build(cgo string, args []string) error {
	cmd := exec.Command("go", append([]string{"build"}, args...)...)
	cmd.Env = append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// RaceLog returns a value of the environment variable GORACE. Programs with the race detector then write their reports
// to the folder, for Races, and do not sleep for a second when they exit.
func RaceLog(folder string) string {
	return "atexit_sleep_ms=0 log_path=" + filepath.Join(folder, "race")
}

// Races returns the reports in a folder of RaceLog.
func Races(folder string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "race.*"))
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, path := range paths {
		report, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all.Write(report)
	}
	return all.String(), nil
}
