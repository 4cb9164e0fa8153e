package watch

import (
	"context"
	"errors"
	"fmt"
	"gcity/config/files"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/formula"
)

// Folders returns a channel that receives a value when a formula or an automation has changed, after o.Quiet without
// changes. Folders need not exist. The channel others, which may be nil, delivers lists that replace the folders. The
// channel holds at most one value. It is closed when ctx has ended and the watch has stopped.
func Folders(
	ctx context.Context, folders []string, others <-chan []string, o Options,
) (<-chan struct{}, error) {
	r := &formulaFolders{dirs: make([]string, len(folders))}
	for i, f := range folders {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, fmt.Errorf("cannot watch the folder %s for formulas and automations: %w", f,
				err)
		}
		r.dirs[i] = abs
	}
	return start(ctx, r, o, others), nil
}

type formulaFolders struct {
	dirs []string
	// events so far; distinguishes two writes within one tick of the file system's clock
	writes int

	watched map[string]bool
	files   map[string]bool
	open    map[string]bool // folders in which every event matters
	// existing formula and automation files, with symbolic links resolved
	known map[string]bool
}

func (r *formulaFolders) String() string { return "formulas and automations" }

func (r *formulaFolders) refresh() {}

func (r *formulaFolders) replaceFolders(folders []string) { r.dirs = folders }

func (r *formulaFolders) isChange(path string) (is, urgent bool) {
	base := filepath.Base(path)
	if r.known[path] || base == automation.FileName || strings.HasSuffix(base, formula.Suffix) {
		r.writes++
		return true, true
	}
	is = r.files[path] || r.open[filepath.Dir(path)]
	return is, is
}

func (r *formulaFolders) folders() map[string]bool {
	r.watched, r.files, r.open, r.known = map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}
	responsive, _ := r.responsive()
	for _, dir := range responsive {
		if _, err := os.Stat(dir); err != nil {
			r.await(dir)
			continue
		}
		real := r.resolveLinks(dir)
		r.folder(real)
		below := filepath.Join(real, automation.Folder)
		r.files[below] = true
		entries, err := os.ReadDir(below)
		if err != nil {
			continue
		}
		below = r.resolveLinks(below)
		r.folder(below)
		r.open[below] = true
		for _, e := range entries {
			if info, err := os.Stat(filepath.Join(below, e.Name())); err == nil && info.IsDir() {
				r.folder(r.resolveLinks(filepath.Join(below, e.Name())))
			}
		}
	}
	for _, path := range paths(responsive) {
		if _, err := os.Stat(path); err != nil {
			r.await(path)
			continue
		}
		real := r.resolveLinks(path)
		r.known[real] = true
		r.watched[filepath.Dir(real)] = true
	}
	return r.watched
}

// folder watches a folder, including the removal of the folder itself.
func (r *formulaFolders) folder(path string) { r.watched[path], r.files[path] = true, true }

func (r *formulaFolders) await(path string) {
	for _, p := range linkChain(path) {
		p = missingAncestor(p)
		r.files[p] = true
		r.folder(filepath.Dir(p))
	}
}

func (r *formulaFolders) resolveLinks(path string) string {
	chain := linkChain(path)
	for _, link := range chain[:len(chain)-1] {
		r.files[link] = true
		r.folder(filepath.Dir(link))
	}
	return chain[len(chain)-1]
}

func (r *formulaFolders) state() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.writes)
	responsive, hung := r.responsive()
	fmt.Fprintln(&b, hung)
	b.WriteString(stats(slices.DeleteFunc(paths(responsive), isDir)))
	for _, dir := range responsive { // an unreadable folder differs from an empty one
		for _, f := range []string{dir, filepath.Join(dir, automation.Folder)} {
			if _, err := os.ReadDir(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(&b, err)
			}
		}
	}
	return b.String()
}

// responsive returns the folders that respond and, separately, the hung ones, which must not be watched or read.
func (r *formulaFolders) responsive() (responsive, hung []string) {
	began := time.Now()
	for _, dir := range r.dirs {
		files.StartCheck(dir)
		files.StartCheck(filepath.Join(dir, automation.Folder))
	}
	for _, dir := range r.dirs {
		self := files.Responds(dir, began)
		if below := files.Responds(filepath.Join(dir, automation.Folder), began); self && below {
			responsive = append(responsive, dir)
		} else {
			hung = append(hung, dir)
		}
	}
	return responsive, hung
}

func paths(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // an unreadable folder is treated as empty
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), formula.Suffix) {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
		entries, _ = os.ReadDir(filepath.Join(dir, automation.Folder))
		for _, e := range entries {
			if e.IsDir() || e.Type() == fs.ModeSymlink {
				out = append(out, filepath.Join(dir, automation.Folder, e.Name(),
					automation.FileName))
			}
		}
	}
	return out
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
