package perform

import (
	"context"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// emitLimit is the timeout of writing a client's event. The log may be locked by another process.
const emitLimit = 5 * time.Second

// emit writes an event of a client to the log and answers the client. If the write fails, emit refuses the event,
// because an event in memory would be lost with the controller.
func (r *Runner) emit(ctx context.Context, f effect.Emit) {
	f.Event.TS = time.Now()
	a := effect.Answer{ID: f.ID}
	seq, err := r.w.Log.AppendNow(ctx, f.Event, city.RoomOf(&f.Event))
	if err != nil {
		a.Err = &city.Error{Code: city.Unavailable, Message: err.Error()}
	} else {
		a.Receipt = city.Receipt{Seq: seq, Message: "emitted " + f.Event.Type}
	}
	r.w.Answer(a)
}
