package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/config"
	"gcity/internal/disk"
)

// withSource gives a command the flags that say what its configuration is made of.
func (a *app) withSource(c *cobra.Command) *cobra.Command {
	c.Flags().StringArrayVarP(&a.files, "file", "f", nil, "read one more `FILE` of the configuration, after what city.toml includes")
	c.Flags().BoolVar(&a.strict, "strict", false, "that two files set the same key is an error, not a warning")
	return c
}

// source is the configuration that the flags ask for.
func (a *app) source(dir string) (config.Source, error) {
	s := config.Source{Dir: dir, Strict: a.strict, Environ: os.Environ()}
	for _, f := range a.files {
		path, err := filepath.Abs(f)
		if err != nil {
			return s, fmt.Errorf("cannot find the file %s: %w", f, err)
		}
		s.Files = append(s.Files, path)
	}
	return s, nil
}

// sourceArgs are the flags that ask another process for the same.
func (a *app) sourceArgs() []string {
	var args []string
	for _, f := range a.files {
		if path, err := filepath.Abs(f); err == nil {
			f = path
		}
		args = append(args, "--file", f)
	}
	if a.strict {
		args = append(args, "--strict")
	}
	return args
}

// loadAt reads what the flags ask for, and without any what the running controller would, of which running is a snapshot; nil:
// the environment is this one.
func (a *app) loadAt(dir string, running *city.Snapshot) (*config.City, error) {
	s := sourceAs(dir, running)
	if len(a.files) > 0 || a.strict {
		asked, err := a.source(dir)
		if err != nil {
			return nil, err
		}
		s.Files, s.Strict = asked.Files, asked.Strict
	}
	return s.Load()
}

// keptSource is what a controller reads besides its city.toml, for other processes. It is gone when the controller is,
// unless that was killed: then it tells what the city was last.
type keptSource struct {
	Files  []string `json:"files"`
	Strict bool     `json:"strict,omitempty"`
}

func keptSourcePath(dir string) string { return filepath.Join(gcDir(dir), "config-files.json") }

func keepSource(at string, s config.Source) error {
	if len(s.Files) == 0 && !s.Strict {
		if err := disk.Remove(keptSourcePath(at)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(keptSource{s.Files, s.Strict})
	if err != nil {
		return err
	}
	return disk.Save(keptSourcePath(at), append(data, '\n'), 0o600)
}

func dropSource(at string) {
	_ = disk.Remove(keptSourcePath(at)) // the next controller writes its own, or removes it
}

// sourceOf is the configuration of a city as the controller that runs it reads it.
func sourceOf(dir string) config.Source {
	s := config.Source{Dir: dir, Environ: os.Environ()}
	var kept keptSource
	if data, err := disk.ReadFile(keptSourcePath(dir)); err == nil && json.Unmarshal(data, &kept) == nil {
		s.Files, s.Strict = kept.Files, kept.Strict
	}
	return s
}

// sourcesOf lists what a configuration is made of.
func sourcesOf(c *config.City) []config.Part { return c.Parts() }
