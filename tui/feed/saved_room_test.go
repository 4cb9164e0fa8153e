package feed

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"
)

// Rooms that store their changes at the same time do not lose any.
func TestRoomsSaveAtTheSameTime(t *testing.T) {
	const rooms = 8
	path := filepath.Join(t.TempDir(), "city.json")
	base := SavedRoom{Version: SavedRoomVersion}
	runners := make([]*Runner, rooms)
	for i := range runners {
		own := base
		own.Filters = map[string]string{strconv.Itoa(i): "x"}
		runners[i] = &Runner{Ctx: t.Context(), Log: slog.New(slog.DiscardHandler)}
		runners[i].SaveRoom(path, SaveRoom{Data: own.Text(), Base: base.Text()})
	}
	for _, r := range runners {
		r.Goroutines.Wait()
	}
	if got, err := ReadSavedRoom(path); err != nil || len(got.Filters) != rooms {
		t.Errorf("%v: %v", err, got.Filters)
	}
}
