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

type savedSource struct {
	Files  []string `json:"files"`
	Strict bool     `json:"strict,omitempty"`
}

func savedSourcePath(dir string) string { return filepath.Join(StateDir(dir), "config-files.json") }

// SaveSource saves which configuration files a controller reads, and whether in strict mode.
func SaveSource(at string, s config.Source) error {
	if len(s.Files) == 0 && !s.Strict {
		if err := disk.Remove(savedSourcePath(at)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
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

// SourcesOf lists a configuration's files and topologies.
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

// FindCity returns the folder of the city that the given folder belongs to.
func FindCity(start string) (string, error) { return config.Find(start) }

// LoadCity reads a configuration as a controller with this process's environment would.
func LoadCity(dir string) (*config.City, error) { return SourceOf(dir).Load() }

// LoadCityOf is like LoadCity, but takes the controller's environment from s, unless s is nil.
func LoadCityOf(dir string, s *city.Snapshot) (*config.City, error) {
	return SourceAs(dir, s).Load()
}

// ParseConfig parses data as the city.toml of the city in dir, with the same environment as LoadCityOf.
func ParseConfig(dir string, data []byte, s *city.Snapshot) (*config.City, error) {
	return SourceAs(dir, s).Parse(data)
}

// SourceAs is like SourceOf, but takes the controller's environment from s, unless s is nil.
func SourceAs(dir string, s *city.Snapshot) config.Source {
	out := SourceOf(dir)
	if s != nil {
		out.Environ = s.Config.Environ
	}
	return out
}

// CheckConfig returns an error if data is not a valid city.toml for the city in dir.
func CheckConfig(dir string, data []byte) error {
	_, err := config.Parse(dir, data)
	return err
}

// NewRig is a rig to add to a configuration.
type NewRig = edit.NewRig

// AddRig adds a rig to a city's configuration file and returns the new configuration.
func AddRig(dir string, r NewRig) (*config.City, error) {
	return edit.AddRig(SourceOf(dir), r)
}

// RemoveRig removes a rig from a city's configuration file and returns the new configuration. If agents is true, it
// also removes the rig's agents.
func RemoveRig(dir, name string, agents bool) (*config.City, error) {
	return edit.RemoveRig(SourceOf(dir), name, agents)
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

// SetSuspended writes the suspended setting of t to the configuration file.
func SetSuspended(dir string, t config.Target, on bool) error {
	return edit.SetSuspended(SourceOf(dir), t, on)
}
