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

// inherit returns the exits that the previous controller recorded. For the first list, it also returns the exits that
// the previous controller could not record. It returns nil if the list cannot contain sessions from the previous
// controller that are new to the machine.
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
		sr.w.Logger.Warn("cannot read which session exits were recorded; some may be recorded "+
			"twice",
			"err", err)
	}
	in.Recorded = effect.RecordedEnds(newest)
	return in
}

// endsDir is the folder in the city's .gc folder with one file for each exit that is not recorded yet.
const endsDir = "ends"

func (sr *sessions) endFile(id string) string {
	return filepath.Join(sr.w.Dir, ".gc", endsDir, session.Encode(id)+".json")
}

// keepEnds saves exits in files before a start makes the session provider drop them.
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

// readEnds returns the exits that the previous controller saved. It removes invalid files.
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
		var e effect.UnrecordedEnd
		data, err := disk.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
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

// forgetEnd removes the file of an exit after the exit was recorded.
func (sr *sessions) forgetEnd(id string) {
	if err := disk.Remove(sr.endFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("cannot remove the file of a saved exit", "err", err)
	}
}

// loggedRuns summarizes the newest log events about runs.
func (au *automations) loggedRuns(ctx context.Context) (*effect.LoggedRuns, error) {
	newest, err := au.w.Log.Find(ctx, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		return nil, fmt.Errorf("cannot read run events from the event log: %w", err)
	}
	return effect.RunsIn(newest), nil
}
