package env

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/config"
)

// LoadHere reads the configuration of the command's city.
func LoadHere(e *Env) (*config.City, error) {
	dir, err := e.CityDir()
	if err != nil {
		return nil, err
	}
	c, err := e.LoadAt(dir, nil)
	if err == nil {
		NoteUntrusted(e, folder.Trusted(dir, c))
	}
	return c, err
}

// WithSource adds the flags that select configuration files.
func WithSource(e *Env, c *cobra.Command) *cobra.Command {
	c.Flags().StringArrayVarP(&e.Files, "file", "f", nil,
		"also read the configuration file `FILE`, after those that city.toml includes")
	c.Flags().BoolVar(&e.Strict, "strict", false,
		"fail if two files set the same key")
	return c
}

// Source returns the configuration sources that the flags select.
func (e *Env) Source(dir string) (config.Source, error) {
	s := config.Source{Dir: dir, Strict: e.Strict, Environ: os.Environ()}
	for _, f := range e.Files {
		path, err := filepath.Abs(f)
		if err != nil {
			return s, fmt.Errorf("cannot find the file %s: %w", f, err)
		}
		s.Files = append(s.Files, path)
	}
	return s, nil
}

// SourceArgs returns the flags that make another process read the same configuration.
func (e *Env) SourceArgs() []string {
	var args []string
	for _, f := range e.Files {
		if path, err := filepath.Abs(f); err == nil {
			f = path
		}
		args = append(args, "--file", f)
	}
	if e.Strict {
		args = append(args, "--strict")
	}
	return args
}

// LoadAt reads the configuration that the flags select or, without flags, that of the running controller. If running
// is nil, it uses this process's environment.
func (e *Env) LoadAt(dir string, running *city.Snapshot) (*config.City, error) {
	s, err := e.sourceAt(dir, running)
	if err != nil {
		return nil, err
	}
	return s.Load()
}

// ParseAt is like LoadAt, with data as the content of city.toml.
func (e *Env) ParseAt(dir string, data []byte, running *city.Snapshot) (*config.City, error) {
	s, err := e.sourceAt(dir, running)
	if err != nil {
		return nil, err
	}
	return s.Parse(data)
}

func (e *Env) sourceAt(dir string, running *city.Snapshot) (config.Source, error) {
	s := folder.SourceAs(dir, running)
	if len(e.Files) > 0 || e.Strict {
		asked, err := e.Source(dir)
		if err != nil {
			return s, err
		}
		s.Files, s.Strict = asked.Files, asked.Strict
	}
	return s, nil
}
