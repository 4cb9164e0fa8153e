package perform

import (
	"context"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// emitLimit is how long an event of a client waits for the lock of the log.
const emitLimit = 5 * time.Second

// emit writes an event of a client and answers it. If the event cannot be written, it is refused, because an event
// in memory would be lost with the controller.
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
