package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/prefs"
	"gcity/tui"
)

// openRoom opens a control room. The caller sets only the options that differ between rooms. If o.Cities is nil, the
// room uses this machine's list of cities. If o.Logger is nil, it logs to env.RoomLog.
func openRoom(ctx context.Context, e *env.Env, o tui.Options) (tui.Exit, error) {
	if e.ReadOnly {
		o.Mode = tui.ReadOnly
	}
	if o.Logger == nil {
		var closeLog func()
		o.Logger, o.LogFile, closeLog = roomLog(e)
		defer closeLog()
	}
	if o.Cities == nil {
		var hosted city.Control
		if o.Mode == tui.Hosting {
			hosted = o.City
		}
		d, closeIt := fleet.RoomDirectory(e, hosted, o.Folder)
		defer closeIt()
		o.Cities = d
	}
	files := prefs.Find(e.Getenv)
	own := prefs.Load(files, prefs.Prefs{})
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	defer func() { e.Out, e.Err = &timedWriter{to: e.Out}, &timedWriter{to: e.Err} }()
	o.ConfigOf = func(folder string, c city.Control) tui.ConfigFile {
		return &configFile{e, folder, c}
	}
	o.StateFileOf = func(folder string) string { return env.MemoryFile(e.Getenv, folder) }
	o.Preferences = env.RoomPrefs(e, own, files.Config)
	o.Changes = env.WatchPrefs(watching, e, &wg, env.OwnPrefs{Files: files, Last: own}, o.Logger)
	o.FPS, o.NoColor, o.ASCII = own.FPS, e.Getenv("NO_COLOR") != "", asciiLocale(e.Getenv)
	o.OverSSH = e.Getenv("SSH_CONNECTION") != "" || e.Getenv("SSH_TTY") != ""
	if o.City != nil {
		o.Config, o.StateFile = o.ConfigOf(o.Folder, o.City), o.StateFileOf(o.Folder)
		o.Folder = fleet.Resolved(o.Folder)
	}
	return tui.Run(ctx, o)
}

// roomLog opens the log of a room that does not run its city. The controller's log has only one writer.
func roomLog(e *env.Env) (_ *slog.Logger, file string, closeLog func()) {
	file = env.RoomLog(e.Getenv)
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return folder.QuietLogger(), "", func() {}
	}
	logger, closeLog := host.FileLogger(folder.FileLogAt(file))
	return logger, file, closeLog
}

// exitTimeout limits writes to the terminal and requests to a city after the control room has closed.
const exitTimeout = time.Second

// timedWriter writes to a terminal that might be blocked. It is not safe for concurrent use.
type timedWriter struct {
	to   io.Writer
	late bool
	wg   sync.WaitGroup
}

// Write implements io.Writer. It fails if the terminal does not accept the data in time.
func (h *timedWriter) Write(p []byte) (int, error) {
	if h.late {
		return 0, os.ErrDeadlineExceeded
	}
	type written struct {
		n   int
		err error
	}
	done, text := make(chan written, 1), bytes.Clone(p)
	h.wg.Go(func() {
		n, err := h.to.Write(text)
		done <- written{n, err}
	})
	select {
	case w := <-done:
		return w.n, w.err
	case <-time.After(exitTimeout):
		h.late = true
		return 0, os.ErrDeadlineExceeded
	}
}

func asciiLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
