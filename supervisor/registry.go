package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/ownership"
	"gcity/internal/toml"
)

// Entry is a registered city.
type Entry struct {
	Path string // absolute, without symbolic links; identifies the city
	Name string // "" = the name in the city's configuration
}

const maxRegistry = 1 << 20

var validName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
})

// CheckName returns an error message for an invalid city name, or "" if the name is valid.
func CheckName(name string) string { return checkName("city", name) }

func checkName(kind, name string) string {
	if len(name) > 200 || !validName().MatchString(name) {
		return fmt.Sprintf("invalid %s name %q: use at most 200 letters, digits, \".\", \"_\" and "+
			"\"-\", and begin with a letter or digit", kind, name)
	}
	return ""
}

// Read reads the registry of a home. A missing file is an empty registry. The error for an invalid file is a
// toml.Problems.
func Read(h Home) ([]Entry, error) {
	data, err := readFile(h.Registry())
	if err != nil {
		return nil, fmt.Errorf("cannot read the registry of cities: %w", err)
	}
	return parseRegistry(h.Registry(), data)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxRegistry:
		return nil, fmt.Errorf("%s is larger than %d kB; is it the right file?", path,
			maxRegistry>>10)
	}
	if err := ownership.Check(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func parseRegistry(file string, data []byte) ([]Entry, error) {
	d := toml.Read(file, data, maxRegistry)
	root := d.Root()
	root.RejectUnknown("cities")
	var all []Entry
	for _, t := range root.Tables("cities") {
		t.RejectUnknown("path", "name")
		e := Entry{Path: t.Text("path"), Name: t.Text("name")}
		switch {
		case !t.Has("path"):
			t.Wrong("", "path is missing: set it to the city's folder")
		case !filepath.IsAbs(e.Path):
			t.Wrong("path", "is %q; it must be absolute", e.Path)
		}
		e.Path = filepath.Clean(e.Path)
		if slices.ContainsFunc(all, isAt(e.Path)) {
			t.Wrong("path", "%s is registered twice; remove one of the two entries", e.Path)
		}
		if t.Has("name") {
			if wrong := CheckName(e.Name); wrong != "" {
				t.Wrong("name", "%s", wrong)
			} else if i := slices.IndexFunc(all, func(o Entry) bool {
				return o.Name == e.Name
			}); i >= 0 {
				t.Wrong("name", "%q is already the name of %s; set a different [workspace] name "+
					"in the city.toml in %s and here, or remove this entry",
					e.Name, all[i].Path, e.Path)
			}
		}
		all = append(all, e)
	}
	if p := d.Problems(); len(p) > 0 {
		return nil, p
	}
	return all, nil
}

func isAt(path string) func(Entry) bool { return func(e Entry) bool { return e.Path == path } }

// Add adds a city to the registry of a home, unless it is registered. If another city has the same name, the error is a
// *city.Error with code Conflict.
func Add(ctx context.Context, h Home, e Entry) error { return edit(ctx, h, addition(e)) }

// registryChange returns the new content of the registry. data is its current content, and all are its entries.
type registryChange func(data []byte, all []Entry) ([]byte, error)

func addition(e Entry) registryChange {
	return func(data []byte, all []Entry) ([]byte, error) {
		if wrong := CheckName(e.Name); wrong != "" {
			return nil, city.Errorf(city.Invalid, "%s; set [workspace] name in its city.toml",
				wrong)
		}
		if err := NameConflict(all, e); err != nil {
			return nil, err
		}
		if slices.Contains(all, e) {
			return data, nil
		}
		if slices.ContainsFunc(all, isAt(e.Path)) {
			var err error
			if data, err = removeEntry(data, all, e.Path); err != nil {
				return nil, err
			}
			all = slices.DeleteFunc(all, isAt(e.Path))
		}
		return addEntry(data, all, e)
	}
}

// NameConflict returns an error if another registered city has the same name.
func NameConflict(all []Entry, e Entry) error {
	for _, o := range all {
		if o.Name != e.Name || o.Path == e.Path {
			continue
		}
		help := fmt.Sprintf(": set a different [workspace] name in the city.toml in %s, or run "+
			"`gcity unregister %s`", e.Path, o.Path)
		if gone(o.Path) {
			help = fmt.Sprintf(", which no longer exists: if the city has moved to %s, run "+
				"`gcity unregister %s` to free the name and to stop the old city if it is "+
				"still running", e.Path, o.Path)
		}
		return city.Errorf(city.Conflict, "the name %q is taken by %s%s", e.Name, o.Path, help)
	}
	return nil
}

// gone reports whether a path does not exist. It returns false if the file system does not respond.
func gone(path string) bool {
	is, ok := deadline.New[bool](1).Do(context.Background(), path, time.Now(), time.Second,
		func() bool {
			_, err := os.Lstat(path)
			return errors.Is(err, fs.ErrNotExist)
		})
	return ok && is
}

// Remove removes a city from the registry of a home, and reports whether it was registered.
func Remove(ctx context.Context, h Home, path string) (was bool, err error) {
	err = edit(ctx, h, removal(path, &was))
	return was, err
}

// removal returns the change that removes a city, and sets was to whether it was registered.
func removal(path string, was *bool) registryChange {
	return func(data []byte, all []Entry) ([]byte, error) {
		*was = slices.ContainsFunc(all, isAt(path))
		if !*was {
			return data, nil
		}
		return removeEntry(data, all, path)
	}
}

const editTimeout = 10 * time.Second

func edit(ctx context.Context, h Home, change registryChange) error {
	if err := h.Make(); err != nil {
		return err
	}
	unlock, err := lockRegistry(ctx, h)
	if err != nil {
		return err
	}
	defer unlock()
	path := h.Registry()
	data, err := readFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the registry of cities: %w", err)
	}
	all, err := parseRegistry(path, data)
	if err != nil {
		return &city.Error{Code: city.Invalid,
			Message: fmt.Sprintf("the registry of cities is invalid; correct it first:\n%v", err),
			Details: city.ConfigRefused}
	}
	out, err := change(data, all)
	if err != nil || slices.Equal(out, data) {
		return err
	}
	err = disk.WriteFileIf(path, out, 0o600, func() error {
		now, err := readFile(path)
		if err == nil && !slices.Equal(now, data) {
			err = city.Errorf(city.Conflict, "cannot write the registry of cities: another "+
				"program has changed it; try again")
		}
		return err
	})
	if _, explained := errors.AsType[*city.Error](err); err != nil && !explained {
		err = fmt.Errorf("cannot write the registry of cities: %w", err)
	}
	return err
}

func lockRegistry(ctx context.Context, h Home) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, editTimeout)
	defer cancel()
	lock, err := disk.AwaitLock(ctx, filepath.Join(h.Dir, registryName+".lock"))
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, fmt.Errorf("another process has held the registry lock for more than %s: %w",
			editTimeout, err)
	case err != nil:
		return nil, err
	}
	// if this fails, the kernel releases the lock at exit
	return func() { _ = lock.Release() }, nil
}

func (e Entry) String() string {
	text := "[[cities]]\npath = " + toml.Quote(e.Path) + "\n"
	if e.Name != "" {
		text += "name = " + toml.Quote(e.Name) + "\n"
	}
	return text
}

func appendEntry(data []byte, e Entry) []byte {
	text := string(data)
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	return []byte(text + e.String())
}

func addEntry(data []byte, all []Entry, e Entry) ([]byte, error) {
	now := append(slices.Clone(all), e)
	out := appendEntry(data, e)
	if got, err := parseRegistry("", out); err == nil && slices.Equal(got, now) {
		return out, nil
	}
	return rewrite(data, now)
}

// rewrite returns a registry with these entries. It returns an error if that would remove comments.
func rewrite(data []byte, all []Entry) (out []byte, err error) {
	if slices.Contains(data, '#') {
		return nil, &city.Error{Code: city.Invalid, Details: city.ConfigRefused,
			Message: "cannot change " + registryName + " without removing its comments; write " +
				"each city as a [[cities]] table, and try again"}
	}
	for _, e := range all {
		out = appendEntry(out, e)
	}
	return out, nil
}

func removeEntry(data []byte, all []Entry, path string) ([]byte, error) {
	rest := slices.DeleteFunc(slices.Clone(all), isAt(path))
	if out, ok := cutLines(string(data), path); ok {
		if now, err := parseRegistry("", []byte(out)); err == nil && slices.Equal(now, rest) {
			return []byte(out), nil
		}
	}
	return rewrite(data, rest)
}

// cutLines removes the entry with this path, or returns false if it cannot. It keeps comments below the entry, because
// they can belong to the next entry.
func cutLines(text, path string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	var from []int
	root := toml.Read("", []byte(text), maxRegistry).Root()
	at := -1
	for i, t := range root.Tables("cities") {
		line := t.Place("").Line - 1
		if line < 0 || line >= len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[line]),
			"[[") {
			return "", false
		}
		from = append(from, line)
		if filepath.Clean(t.Text("path")) == path {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	end := len(lines)
	if at+1 < len(from) {
		end = from[at+1]
	}
	for end > from[at] && !hasContent(lines[end-1]) {
		end--
	}
	out := strings.Join(slices.Delete(lines, from[at], end), "")
	if strings.TrimSpace(out) == "" {
		out = ""
	}
	return out, true
}

func hasContent(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && !strings.HasPrefix(line, "#")
}

// Named returns the entries, each with a name. An entry without a name gets the configured one, which look returns, or
// else that of its folder. If both are invalid or taken, it gets the folder's name with a number.
func Named(all []Entry, look func(path string) string) []Entry {
	out := slices.Clone(all)
	taken := map[string]bool{}
	for _, e := range all {
		taken[e.Name] = true
	}
	for i := range out {
		if out[i].Name != "" {
			continue
		}
		for _, name := range []string{look(out[i].Path), filepath.Base(out[i].Path)} {
			if CheckName(name) == "" && !taken[name] {
				out[i].Name = name
				break
			}
		}
		if out[i].Name == "" {
			out[i].Name = unnamed(out[i].Path, taken)
		}
		taken[out[i].Name] = true
	}
	return out
}

func unnamed(path string, taken map[string]bool) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		if validName().MatchString("x" + string(r)) {
			return r
		}
		return '-'
	}, filepath.Base(path)), "._-")
	if base == "" {
		base = "city"
	}
	for n := 2; ; n++ {
		if name := base + "-" + strconv.Itoa(n); !taken[name] {
			return name
		}
	}
}
