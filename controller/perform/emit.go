package perform

import (
	"context"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// emitLimit is the timeout for writing a client's event. The log may be locked by another process.
const emitLimit = 5 * time.Second

// emit writes a client's event to the log and replies to the client. If the write fails, emit rejects the event,
// because an event that exists only in memory would be lost when the controller exits.
func (r *Runner) emit(ctx context.Context, f effect.Emit) {
	f.Event.TS = time.Now()
	a := effect.Reply{ID: f.ID}
	seq, err := r.w.Log.AppendNow(ctx, f.Event, city.RoomOf(&f.Event))
	if err != nil {
		a.Err = &city.Error{Code: city.Unavailable, Message: err.Error()}
	} else {
		a.Receipt = city.Receipt{Seq: seq, Message: "emitted " + f.Event.Type}
	}
	r.w.Reply(a)
}
