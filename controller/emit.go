package controller

import (
	"context"
	"time"

	"gcity/city"
)

// emitLimit bounds how long an event of a client waits for the log's lock while another process has it.
const emitLimit = 5 * time.Second

// emit writes the event of a client and answers it. What cannot be written is refused: an event that waits in memory
// would be lost with the controller.
func (r *runner) emit(ctx context.Context, f fxEmit) {
	f.event.TS = time.Now()
	a := answer{id: f.id}
	seq, err := r.c.o.Log.AppendNow(ctx, f.event, city.RoomOf(&f.event))
	if err != nil {
		a.err = &city.Error{Code: city.Unavailable, Message: err.Error()}
	} else {
		a.receipt = city.Receipt{Seq: seq, Message: "emitted " + f.event.Type}
	}
	r.c.answer(a)
}
