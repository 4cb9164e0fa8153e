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

type roomOptions struct {
	city     city.Control // nil if the room shows all cities
	dir      string
	cities   city.Directory // if nil, the room uses this machine's list of cities
	hosting  bool
	readOnly bool
	logger   *slog.Logger // nil = the room logs to env.RoomLog
	logFile  string       // the file that logger writes to

	// if nil, the control room handles SIGINT
	interrupts <-chan os.Signal
	// see tui.Options; may be nil
	checkLeave func(tui.Exit) error
	// receives the last shown city; may be nil
	onLeave func(tui.ShownCity)
}

func openRoom(ctx context.Context, e *env.Env, o roomOptions) (tui.Exit, error) {
	mode := tui.Joined
	switch {
	case o.hosting:
		mode = tui.Hosting
	case o.readOnly:
		mode = tui.ReadOnly
	}
	if o.logger == nil {
		var closeLog func()
		o.logger, o.logFile, closeLog = roomLog(e)
		defer closeLog()
	}
	cities := o.cities
	if cities == nil {
		var hosted city.Control
		if o.hosting {
			hosted = o.city
		}
		d, closeIt := fleet.RoomDirectory(e, hosted, o.dir)
		defer closeIt()
		cities = d
	}
	files := prefs.Find(e.Getenv)
	own := prefs.Load(files, prefs.Prefs{})
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	defer func() { e.Out, e.Err = &timedWriter{to: e.Out}, &timedWriter{to: e.Err} }()
	options := tui.Options{
		Mode: mode, Logger: o.logger, LogFile: o.logFile, Cities: cities,
		ConfigOf: func(folder string, c city.Control) tui.ConfigFile {
			return &configFile{e, folder,
				c}
		},
		StateFileOf: func(folder string) string { return env.MemoryFile(e.Getenv, folder) },
		Preferences: env.RoomPrefs(e, own, files.Config),
		Changes: env.WatchPrefs(watching, e, &wg, env.OwnPrefs{Files: files, Last: own},
			o.logger),
		FPS:        own.FPS,
		Interrupts: o.interrupts,
		CheckLeave: o.checkLeave,
		OnLeave:    o.onLeave,
		NoColor:    e.Getenv("NO_COLOR") != "",
		ASCII:      asciiLocale(e.Getenv),
		OverSSH:    e.Getenv("SSH_CONNECTION") != "" || e.Getenv("SSH_TTY") != "",
	}
	if o.city != nil {
		options.City, options.Folder = o.city, fleet.Resolved(o.dir)
		options.Config, options.StateFile = options.ConfigOf(o.dir, o.city),
			env.MemoryFile(e.Getenv, o.dir)
	}
	return tui.Run(ctx, options)
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
