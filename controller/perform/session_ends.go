package perform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/session"
)

const (
	CrashFiles    = 10 // per agent
	crashLines    = 50
	crashText     = 16 << 10 // in bytes
	crashRendered = 64 << 10 // bytes of raw output that are rendered
	crashName     = "20060102T150405.000000000Z.ansi"
)

func (sr *sessions) capture(ctx context.Context, f effect.Capture) effect.Input {
	in := effect.Captured{Agent: f.Agent, ID: f.ID}
	p, ok := sr.w.Provider.(session.Capturer)
	if !ok {
		in.Err = session.ErrUnsupported
		return in
	}
	sr.awaitStart(ctx, f.Agent, f.Session)
	raw, err := p.Capture(ctx, f.Session, f.ID)
	if err != nil {
		in.Err = err
		return in
	}
	in.File, in.Err = keepCrash(sr.w.At, f, raw)
	select {
	case sr.draws <- struct{}{}:
		in.Tail = lastLines(raw, f.Cols, f.Rows)
		<-sr.draws
	case <-ctx.Done():
		in.Err = errors.Join(in.Err, fmt.Errorf("the output was not rendered, because too "+
			"many agents crashed at once: %w", context.Cause(ctx)))
	}
	return in
}

func lastLines(raw []byte, cols, rows int) string {
	raw = raw[max(0, len(raw)-crashRendered):]
	text := strings.TrimRight(screen.Text(raw, cols, rows, crashLines), "\n ")
	if over := len(text) - crashText; over > 0 {
		text = strings.ToValidUTF8(text[over:], "")
	}
	return text
}

func keepCrash(city string, f effect.Capture, raw []byte) (string, error) {
	dir := CrashDir(city, f.Agent)
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	at := f.At.UTC()
	files, err := CrashList(dir)
	if n := len(files); n > 0 {
		// after the clock was set back, the newest file must still sort last
		last, err := time.Parse(crashName, filepath.Base(files[n-1]))
		if err == nil && last.After(at) {
			at = last.Add(1)
		}
	}
	path := filepath.Join(dir, at.Format(crashName))
	if err := disk.Replace(path, raw, 0o600); err != nil {
		return "", err
	}
	if !slices.Contains(files, path) {
		files = append(files, path)
	}
	for _, old := range files[:max(0, len(files)-CrashFiles)] {
		err = errors.Join(err, disk.Remove(old))
	}
	rel, relErr := filepath.Rel(city, path)
	return rel, errors.Join(err, relErr)
}

func CrashDir(city, agent string) string {
	return filepath.Join(city, ".gc", "crashes", session.Encode(agent))
}

// CrashList returns the crash files in dir, oldest first.
func CrashList(dir string) ([]string, error) {
	entries, err := disk.ReadDir(dir) // sorted by name, and therefore by time
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ansi") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// LastOutput returns the last lines of an agent's newest crash file as plain text, or the last screen if lines <= 0.
// It returns "" if no file exists.
func LastOutput(city, agent string, lines int) (string, error) {
	files, err := CrashList(CrashDir(city, agent))
	if err != nil || len(files) == 0 {
		return "", err
	}
	raw, err := disk.ReadFile(files[len(files)-1])
	if err != nil {
		return "", fmt.Errorf("cannot read the session's saved output: %w", err)
	}
	return screen.Text(raw, 120, 40, lines), nil
}

// inherit returns which exits and starts are already recorded, or nil if f.Inherit is not set. If f.First is set, the
// result also contains the exits saved in files.
func (sr *sessions) inherit(ctx context.Context, f effect.List) *effect.Inherited {
	if !f.Inherit {
		return nil
	}
	in := &effect.Inherited{}
	if f.First {
		in.Ends = sr.readEnds()
	}
	newest, err := sr.w.Log.Find(ctx, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		sr.w.Logger.Warn("cannot read which session exits and starts were recorded; some may "+
			"be recorded twice or not at all", "err", err)
	}
	in.SearchLog(newest)
	return in
}

// one file for each exit that is not recorded yet
const endsDir = "ends"

func (sr *sessions) endFile(id string) string {
	return filepath.Join(sr.w.Dir, ".gc", endsDir, session.Encode(id)+".json")
}

// A start makes the session provider drop these exits.
func (sr *sessions) keepEnds(ends []effect.UnrecordedEnd) {
	for _, e := range ends {
		path := sr.endFile(e.Exit.ID)
		data, err := json.Marshal(e)
		if err = errors.Join(err, disk.MkdirAll(filepath.Dir(path), 0o700)); err == nil {
			err = disk.Replace(path, data, 0o600)
		}
		if err != nil {
			sr.w.Logger.Warn("an exit will be lost if this controller is killed now",
				"agent", e.Exit.Agent, "err", err)
		}
	}
}

func (sr *sessions) readEnds() (ends []effect.UnrecordedEnd) {
	dir := filepath.Join(sr.w.Dir, ".gc", endsDir)
	files, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("cannot read saved exits", "err", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		data, err := disk.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil { // the next controller reads it again
			sr.w.Logger.Warn("cannot read a saved exit", "file", f.Name(), "err", err)
			continue
		}
		var e effect.UnrecordedEnd
		err = json.Unmarshal(data, &e)
		if err == nil && e.Exit.ID == "" {
			err = errors.New("the file contains no session")
		}
		if err != nil {
			sr.w.Logger.Warn("removed an invalid file of a saved exit", "file",
				f.Name(), "err", err)
			// otherwise the next controller would read the file again
			_ = disk.Remove(filepath.Join(dir, f.Name()))
			continue
		}
		ends = append(ends, e)
	}
	return ends
}

func (sr *sessions) forgetEnd(id string) {
	if err := disk.RemoveAny(sr.endFile(id)); err != nil {
		sr.w.Logger.Warn("cannot remove the file of a saved exit", "err", err)
	}
}

func (au *automations) loggedRuns(ctx context.Context) (*effect.LoggedRuns, error) {
	newest, err := au.w.Log.Find(ctx, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		return nil, fmt.Errorf("cannot read run events from the event log: %w", err)
	}
	return effect.RunsIn(newest), nil
}
