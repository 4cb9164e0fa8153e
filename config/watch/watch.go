// Package watch reports changes to files. It only detects that files differ. The receiver decides whether a change
// matters.
//
// # Concurrency
//
// Each watch has one goroutine, which ends with its context.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/recovery"

	"github.com/fsnotify/fsnotify"
)

// Options configure a watch. The zero value selects the defaults.
type Options struct {
	Log     *slog.Logger  // receives one warning if the watch has to poll; nil = slog.Default()
	Quiet   time.Duration // time without changes before a change is reported; 0 = 200 ms
	Poll    time.Duration // interval of polls if the kernel cannot report changes; 0 = 2 s
	Polling bool          // always poll, for network file systems
	// report a change at the start
	First   bool
	OnPanic func(error) // nil = a panic ends the program
}

func start(ctx context.Context, s subject, o Options, others <-chan []string) <-chan struct{} {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Quiet <= 0 {
		o.Quiet = 200 * time.Millisecond
	}
	if o.Poll <= 0 {
		o.Poll = 2 * time.Second
	}
	w := &watcher{
		subject: s, o: o, others: others, changes: make(chan struct{}, 1),
		running: recovery.Group{OnPanic: recovery.Fatal(o.OnPanic)},
	}
	w.check()
	select {
	case <-w.changes: // discard the value that reports the initial state
	default:
	}
	if o.First {
		w.changes <- struct{}{}
	}
	w.running.Go(func() { w.run(ctx) })
	return w.changes
}

// subject is what a watcher watches. After start has returned, only the goroutine of run uses it.
type subject interface {
	refresh()
	// folders returns the folders that the kernel should watch. If the value is true and the folder cannot be watched,
	// the watcher polls.
	folders() map[string]bool
	// isChange reports whether an event is a change. An urgent change is reported even if the files are never quiet.
	isChange(path string) (is, urgent bool)
	// state returns a string that changes whenever the files change.
	state() string
	// String describes the files, for example "the configuration".
	String() string
}

// watcher reports changes to a subject. After start has returned, only the goroutine of run uses it.
type watcher struct {
	subject subject
	o       Options
	others  <-chan []string // delivers the subject's new folders; nil if they never change
	changes chan struct{}
	running recovery.Group

	quiet     *time.Timer
	latest    time.Time         // when an urgent change must be reported; zero = no urgent change
	kernel    *fsnotify.Watcher // nil if the kernel is not used or has no watches left
	unwatched bool              // run polls, because the kernel does not watch some of the folders
	warned    bool
	last      string

	added map[string]fs.FileInfo // folders when the kernel began to watch them, by path
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.changes)
	defer func() {
		if w.kernel != nil {
			_ = w.kernel.Close() // the watch ends even if this fails
		}
	}()
	w.quiet = time.NewTimer(w.o.Quiet)
	w.quiet.Stop()
	defer w.quiet.Stop()
	poll := time.NewTicker(w.o.Poll)
	defer poll.Stop()
	for {
		var events <-chan fsnotify.Event
		var errs <-chan error
		var tick <-chan time.Time
		if w.kernel != nil {
			events, errs = w.kernel.Events, w.kernel.Errors
		}
		if w.unwatched {
			tick = poll.C
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if e.Op == fsnotify.Chmod {
				continue
			}
			if is, urgent := w.subject.isChange(e.Name); is {
				w.delay(urgent)
			}
		case <-errs: // events were lost, so any file might have changed
			w.delay(true)
		case <-tick:
			w.check()
		case folders := <-w.others:
			if s, ok := w.subject.(interface{ replaceFolders([]string) }); ok {
				s.replaceFolders(folders)
				// watch the new folders before the quiet time starts, so that no change is missed
				w.addWatches()
				w.delay(true)
			}
		case <-w.quiet.C:
			w.latest = time.Time{}
			w.check()
		}
	}
}

// maxDelay limits how long an urgent change waits for the files to be quiet, as a multiple of the quiet time.
const maxDelay = 10

// delay makes run check the files when they have been quiet, or when an urgent change has waited for too long.
func (w *watcher) delay(urgent bool) {
	now, wait := time.Now(), w.o.Quiet
	if urgent && w.latest.IsZero() {
		w.latest = now.Add(maxDelay * w.o.Quiet)
	}
	if !w.latest.IsZero() {
		wait = min(wait, w.latest.Sub(now))
	}
	w.quiet.Reset(wait)
}

func (w *watcher) check() {
	w.addWatches()
	w.subject.refresh()
	for range 5 { // repeated, because a new folder can get subfolders before it is watched
		if !w.addWatches() {
			break
		}
	}
	state := w.subject.state()
	if state == w.last {
		return
	}
	w.last = state
	select {
	case w.changes <- struct{}{}:
	default:
	}
}

// addWatches watches folders rather than files, because replacing a file ends its watch.
func (w *watcher) addWatches() (added bool) {
	parents := w.subject.folders()
	w.unwatched = w.o.Polling
	if w.unwatched {
		return false
	}
	if w.kernel == nil {
		k, err := fsnotify.NewWatcher()
		if err != nil {
			w.warnPolling(err)
			return false
		}
		w.kernel, w.added = k, map[string]fs.FileInfo{}
	}
	watched := map[string]bool{}
	for _, f := range w.kernel.WatchList() {
		if _, wanted := parents[f]; wanted && w.isSame(f) {
			watched[f] = true
			continue
		}
		_ = w.kernel.Remove(f)
	}
	maps.DeleteFunc(w.added, func(f string, _ fs.FileInfo) bool { return !watched[f] })
	for _, f := range slices.Sorted(maps.Keys(parents)) {
		if watched[f] {
			continue
		}
		// before the watch starts, so that a replacement in between is noticed by the next call
		info, _ := os.Stat(f)
		err := w.kernel.Add(f)
		if err == nil {
			added, w.added[f] = true, info
		}
		if err != nil && parents[f] {
			w.warnPolling(err)
		}
	}
	return added
}

// isSame reports whether the kernel watches the folder that is now at a path. If a folder is replaced, the kernel
// continues to watch the old one.
func (w *watcher) isSame(folder string) bool {
	now, err := os.Stat(folder)
	return err == nil && w.added[folder] != nil && os.SameFile(now, w.added[folder])
}

// warnPolling makes the watcher poll, and logs the first error. It does not log missing or unreadable folders, because
// whatever reads them reports that.
func (w *watcher) warnPolling(err error) {
	w.unwatched = true
	if w.warned || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return
	}
	w.warned = true
	w.o.Log.Warn("the kernel has no file watches left for "+w.subject.String()+", so gcity "+
		"polls the files and detects changes with a delay; raise fs.inotify.max_user_instances "+
		"or max_user_watches", "every", w.o.Poll, "err", err)
}

// missingAncestor returns the topmost missing folder in a path, or the path itself.
func missingAncestor(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(up); err == nil || up == path {
			return path
		}
		path = up
	}
}

func linkChain(path string) []string {
	var out []string
	done, rest := "/", strings.TrimPrefix(filepath.Clean(path), "/")
	for links := 0; rest != "" && links < 40; {
		name, more, _ := strings.Cut(rest, "/")
		rest = more
		if name == ".." {
			done = filepath.Dir(done)
			continue
		}
		here := filepath.Join(done, name)
		to, err := os.Readlink(here)
		switch {
		case err != nil: // the path is missing, or not a link
			done = here
		case filepath.IsAbs(to):
			out, links = append(out, here), links+1
			done, rest = "/", strings.TrimPrefix(filepath.Join(to, rest), "/")
		default:
			out, links = append(out, here), links+1
			rest = filepath.Join(to, rest)
		}
	}
	return append(out, done)
}
