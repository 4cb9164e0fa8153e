package perform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/session"
)

// inherit finds which ends a predecessor recorded, and with the first look which it did not. It returns nil for a
// look that can show no session of a predecessor for the first time.
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
		sr.w.Logger.Warn("cannot tell which ends of sessions are recorded; some may be "+
			"recorded twice", "err", err)
	}
	in.Recorded = effect.RecordedEnds(newest)
	return in
}

// endsDir, in the city's .gc folder, keeps unrecorded ends, a file each.
const endsDir = "ends"

func (sr *sessions) endFile(id string) string {
	return filepath.Join(sr.w.Dir, ".gc", endsDir, session.Encode(id)+".json")
}

// keepEnds writes the ends that a start would make the session provider forget.
func (sr *sessions) keepEnds(ends []effect.UnrecordedEnd) {
	for _, e := range ends {
		path := sr.endFile(e.Exit.ID)
		data, err := json.Marshal(e)
		if err = errors.Join(err, disk.MkdirAll(filepath.Dir(path), 0o700)); err == nil {
			err = disk.Replace(path, data, 0o600)
		}
		if err != nil {
			sr.w.Logger.Warn("the end of a session is lost if this controller is killed now",
				"agent", e.Exit.Agent, "err", err)
		}
	}
}

// readEnds returns the ends that a predecessor kept. A file that cannot be used is removed.
func (sr *sessions) readEnds() (ends []effect.UnrecordedEnd) {
	dir := filepath.Join(sr.w.Dir, ".gc", endsDir)
	files, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("ends of sessions that were not recorded cannot be read", "err", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		var e effect.UnrecordedEnd
		data, err := disk.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err == nil && e.Exit.ID == "" {
			err = errors.New("it names no session")
		}
		if err != nil {
			sr.w.Logger.Warn("the kept end of a session cannot be used and is removed", "file",
				f.Name(), "err", err)
			_ = disk.Remove(filepath.Join(dir, f.Name())) // else the next controller says so again
			continue
		}
		ends = append(ends, e)
	}
	return ends
}

// forgetEnd removes the file of an end that is recorded.
func (sr *sessions) forgetEnd(id string) {
	if err := disk.Remove(sr.endFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("the kept end of a session cannot be removed", "err", err)
	}
}

// toldRuns reads what the log says of runs, in a tail of bounded size.
func (au *automations) toldRuns(ctx context.Context) (*effect.LoggedRuns, error) {
	newest, err := au.w.Log.Find(ctx, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		return nil, fmt.Errorf("cannot tell which runs are in the event log: %w", err)
	}
	return effect.TellsOf(newest), nil
}
