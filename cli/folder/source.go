package folder

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/internal/disk"
)

type savedSource struct {
	Files  []string `json:"files"`
	Strict bool     `json:"strict,omitempty"`
}

func savedSourcePath(dir string) string { return filepath.Join(StateDir(dir), "config-files.json") }

// SaveSource saves which configuration files a controller reads, and whether in strict mode.
func SaveSource(at string, s config.Source) error {
	if len(s.Files) == 0 && !s.Strict {
		return IgnoreNotExist(disk.Remove(savedSourcePath(at)))
	}
	data, err := json.Marshal(savedSource{s.Files, s.Strict})
	if err != nil {
		return err
	}
	return disk.Save(savedSourcePath(at), append(data, '\n'), 0o600)
}

// RemoveSource removes the file that SaveSource wrote.
func RemoveSource(at string) {
	// the next controller replaces or removes the file anyway
	_ = disk.Remove(savedSourcePath(at))
}

// SourceOf returns the sources of the configuration that the city's running controller uses.
func SourceOf(dir string) config.Source {
	s := config.Source{Dir: dir, Environ: os.Environ()}
	var kept savedSource
	if data, err := disk.ReadFile(savedSourcePath(dir)); err == nil &&
		json.Unmarshal(data, &kept) == nil {
		s.Files, s.Strict = kept.Files, kept.Strict
	}
	return s
}

// ProblemLines returns each problem as one line.
func ProblemLines(problems []config.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// Short returns the short form of a revision.
func Short(revision string) string { return revision[:min(12, len(revision))] }

// LoadCity reads a configuration as a controller with this process's environment would.
func LoadCity(dir string) (*config.City, error) { return SourceOf(dir).Load() }

// LoadCityOf is like LoadCity, but takes the controller's environment from s, unless s is nil.
func LoadCityOf(dir string, s *city.Snapshot) (*config.City, error) {
	return SourceAs(dir, s).Load()
}

// SourceAs is like SourceOf, but takes the controller's environment from s, unless s is nil.
func SourceAs(dir string, s *city.Snapshot) config.Source {
	out := SourceOf(dir)
	if s != nil {
		out.Environ = s.Config.Environ
	}
	return out
}

// AsEdit converts an edit's error to a city.Error. It returns other errors unchanged.
func AsEdit(err error) error {
	_, unfit := errors.AsType[*edit.InvalidRig](err)
	switch {
	case unfit:
		return city.Errorf(city.Invalid, "%v", err)
	case errors.Is(err, edit.ErrInUse), errors.Is(err, edit.ErrChanged):
		return city.Errorf(city.Conflict, "%v", err)
	}
	return err
}

// Folders returns the folders that contain automations.
func Folders(c *config.City) []string {
	var out []string
	for _, l := range c.Layers() {
		out = append(out, l.Dir)
	}
	return out
}
