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

// inherit returns which exits the previous controller recorded, and at the first list those it did not. It returns
// nil for a list that shows no session of that controller for the first time.
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
		sr.w.Logger.Warn("the recorded exits of sessions are unknown; some may be recorded twice",
			"err", err)
	}
	in.Recorded = effect.RecordedEnds(newest)
	return in
}

// endsDir, in the city's .gc folder, has one file per exit that is not recorded yet.
const endsDir = "ends"

func (sr *sessions) endFile(id string) string {
	return filepath.Join(sr.w.Dir, ".gc", endsDir, session.Encode(id)+".json")
}

// keepEnds saves the exits that the session provider forgets at a start.
func (sr *sessions) keepEnds(ends []effect.UnrecordedEnd) {
	for _, e := range ends {
		path := sr.endFile(e.Exit.ID)
		data, err := json.Marshal(e)
		if err = errors.Join(err, disk.MkdirAll(filepath.Dir(path), 0o700)); err == nil {
			err = disk.Replace(path, data, 0o600)
		}
		if err != nil {
			sr.w.Logger.Warn("an exit is lost if this controller is killed now",
				"agent", e.Exit.Agent, "err", err)
		}
	}
}

// readEnds returns the exits saved by the previous controller. Invalid files are removed.
func (sr *sessions) readEnds() (ends []effect.UnrecordedEnd) {
	dir := filepath.Join(sr.w.Dir, ".gc", endsDir)
	files, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("saved exits cannot be read", "err", err)
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
			err = errors.New("it has no session")
		}
		if err != nil {
			sr.w.Logger.Warn("a saved exit is invalid and is removed", "file",
				f.Name(), "err", err)
			// otherwise the next controller would report it again
			_ = disk.Remove(filepath.Join(dir, f.Name()))
			continue
		}
		ends = append(ends, e)
	}
	return ends
}

// forgetEnd removes the file of an exit that is recorded.
func (sr *sessions) forgetEnd(id string) {
	if err := disk.Remove(sr.endFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		sr.w.Logger.Warn("a saved exit cannot be removed", "err", err)
	}
}

// loggedRuns reads what the log contains about runs, from a tail of limited size.
func (au *automations) loggedRuns(ctx context.Context) (*effect.LoggedRuns, error) {
	newest, err := au.w.Log.Find(ctx, events.Query{Limit: effect.NewestEvents})
	if err != nil {
		return nil, fmt.Errorf("cannot read which runs are in the event log: %w", err)
	}
	return effect.TellsOf(newest), nil
}
