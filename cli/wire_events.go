package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/cli/output"
	"gcity/config"
	"gcity/events"
	"gcity/events/mirror"
	"gcity/internal/disk"
	"gcity/trust"
)

// As in wire.go: what is made of which parts, here for events.

// errDrill is why a log of the provider "fail" cannot be written.
var errDrill = errors.New(`[events] provider is "fail": nothing is written, which is a drill`)

// openLog opens a city's event log as its configuration says. The caller closes it.
func openLog(dir string, c *config.City, broken func(error)) (log *events.Log, closeLog func() error, err error) {
	at, o, after := gcDir(dir), events.Options{Broken: broken}, func() error { return nil }
	switch c.Events.Provider {
	case "fail":
		o.Refuse = errDrill
	case "fake":
		if at, err = os.MkdirTemp("", "gcity-events-"); err != nil {
			return nil, nil, fmt.Errorf("cannot make a log to be forgotten: %w", err)
		}
		after = func() error { return os.RemoveAll(at) }
	}
	if log, err = events.Open(at, o); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot open the event log: %w", err), after())
	}
	return log, func() error { return errors.Join(log.Close(), after()) }, nil
}

// logTrouble reads the newest part of the log and tells what is damaged there, "" if nothing is.
func logTrouble(ctx context.Context, dir string) (string, error) {
	r, err := events.OpenReader(gcDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := r.Find(ctx, events.Query{Limit: events.MaxLimit}); err != nil {
		return "", err
	}
	n, damage := r.Damaged()
	if n == 0 {
		return "", nil
	}
	var where []string
	for _, d := range damage {
		where = append(where, d.String())
	}
	return fmt.Sprintf("%d damaged lines: %s", n, strings.Join(where, " | ")), nil
}

// mirrorOf is the script that is told of a city's events, without log and logger; ok: there is one, and it may run.
func mirrorOf(c *config.City, grant trust.Grant) (o mirror.Options, ok bool) {
	path, ok := cutExec(c.Events.Provider)
	if ok = ok && grant.Err() == nil; !ok {
		return mirror.Options{}, false
	}
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(c.Path, path)
	}
	return mirror.Options{Script: path, Dir: c.Path, Env: scriptEnv(places(c)[0]), State: gcDir(c.Path)}, ok
}

// checkMirror asks the script that is told of events, and says how far it has come.
func checkMirror(ctx context.Context, p *patient) finding {
	if p.config == nil {
		return ok("not looked at: the configuration is refused")
	}
	switch p.config.Events.Provider {
	case "fake", "fail":
		return note("take it out of [events] when the drill is over", "[events] provider is %q: no event outlives the controller", p.config.Events.Provider)
	}
	o, there := mirrorOf(p.config, p.grant)
	if _, scripted := cutExec(p.config.Events.Provider); scripted && !there {
		return untried()
	}
	if !there {
		return ok("nobody but the log is told")
	}
	at, err := mirror.Load(o.State)
	if err != nil {
		return bad("remove .gc/events-mirror.json: the script is then told of everything again", "%v", err)
	}
	if _, err := mirror.Newest(ctx, o); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return bad("do what it says; the log has the events until then, and the newest of them are told later", "%v", err)
	}
	switch {
	case at.Why != "":
		return note("it is tried again at least once a minute", "the script has failed since %s: %s", at.Since.Local().Format(time.DateTime), output.SafeLine(at.Why))
	case at.Missed > 0:
		return note("what it missed is in the log: gcity events", "the script has come to event %d, and was not told of %s", at.Seq, output.Counted(int(at.Missed), "event"))
	}
	return ok("the script answers, and has come to event %d", at.Seq)
}

// clearLogPlace moves a folder aside that is in the place of the event log. A link there is refused when the log opens.
func clearLogPlace(at string, logger *slog.Logger) {
	path := filepath.Join(gcDir(at), "events.jsonl")
	info, err := disk.Lstat(path)
	if err != nil || !info.IsDir() {
		return
	}
	aside, err := disk.SetAside(path)
	if err == nil {
		logger.Warn("a folder was in the place of the event log and was moved aside", "to", disk.Real(aside))
	}
	logError(logger, "a folder is in the place of the event log", err)
}
