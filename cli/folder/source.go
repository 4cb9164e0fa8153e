package folder

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/internal/disk"
)

// keptSource is what a controller reads in addition to its city.toml, saved for other processes. The controller
// removes it when it exits, unless it is killed; then it shows the city's last sources.
type keptSource struct {
	Files  []string `json:"files"`
	Strict bool     `json:"strict,omitempty"`
}

func keptSourcePath(dir string) string { return filepath.Join(StateDir(dir), "config-files.json") }

// KeepSource saves from which files and how strictly a controller reads its configuration.
func KeepSource(at string, s config.Source) error {
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

// DropSource removes what KeepSource wrote.
func DropSource(at string) {
	// the next controller writes its own file, or removes this one
	_ = disk.Remove(keptSourcePath(at))
}

// SourceOf returns the configuration source of a city as its running controller uses it.
func SourceOf(dir string) config.Source {
	s := config.Source{Dir: dir, Environ: os.Environ()}
	var kept keptSource
	if data, err := disk.ReadFile(keptSourcePath(dir)); err == nil &&
		json.Unmarshal(data, &kept) == nil {
		s.Files, s.Strict = kept.Files, kept.Strict
	}
	return s
}

// SourcesOf lists the files and topologies of a configuration.
func SourcesOf(c *config.City) []config.Part { return c.Parts() }

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

// FindCity finds the city that a folder is in.
func FindCity(start string) (string, error) { return config.Find(start) }

// LoadCity reads a configuration as a controller in this environment would.
func LoadCity(dir string) (*config.City, error) { return SourceOf(dir).Load() }

// LoadCityOf reads a configuration as the running controller would, of which s is a snapshot. If s is nil it uses
// this environment.
func LoadCityOf(dir string, s *city.Snapshot) (*config.City, error) {
	return SourceAs(dir, s).Load()
}

// ParseConfig parses a text as the configuration of the city in dir, as LoadCityOf does.
func ParseConfig(dir string, data []byte, s *city.Snapshot) (*config.City, error) {
	return SourceAs(dir, s).Parse(data)
}

// SourceAs is SourceOf with the environment of the controller of which s is a snapshot.
func SourceAs(dir string, s *city.Snapshot) config.Source {
	out := SourceOf(dir)
	if s != nil {
		out.Environ = s.Config.Environ
	}
	return out
}

// CheckConfig returns the errors in a text as the configuration of the city in dir.
func CheckConfig(dir string, data []byte) error {
	_, err := config.Parse(dir, data)
	return err
}

// NewRig is a rig to add.
type NewRig = edit.NewRig

// DeclareRig writes a rig into a city's configuration and returns the configuration with it.
func DeclareRig(dir string, r NewRig) (*config.City, error) {
	return edit.AddRig(SourceOf(dir), r)
}

// UndeclareRig removes a rig from a configuration, and its agents if agents is set.
func UndeclareRig(dir, name string, agents bool) (*config.City, error) {
	return edit.RemoveRig(SourceOf(dir), name, agents)
}

// AsEdit gives an invalid edit of the configuration its own class of error, because the file on disk is still
// valid.
func AsEdit(err error) error {
	_, unfit := errors.AsType[*edit.Unfit](err)
	switch {
	case unfit:
		return &city.Error{Code: city.Invalid, Message: err.Error()}
	case errors.Is(err, edit.ErrInUse), errors.Is(err, edit.ErrChanged):
		return &city.Error{Code: city.Conflict, Message: err.Error()}
	}
	return err
}

// Folders returns the folders of automations.
func Folders(c *config.City) []string {
	var out []string
	for _, l := range c.Layers() {
		out = append(out, l.Dir)
	}
	return out
}

// SetSuspended writes the flag into the configuration.
func SetSuspended(dir string, t config.Target, on bool) error {
	return edit.SetSuspended(SourceOf(dir), t, on)
}
