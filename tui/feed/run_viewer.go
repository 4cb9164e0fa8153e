package feed

import (
	"context"

	"gcity/city"
	"gcity/tui/terminal"
)

func (v *Viewer) viewRun(ctx context.Context, t Watch) {
	n := terminal.News{Run: t.Run}
	for tries := 0; ; tries++ {
		err := v.readRun(ctx, &n, &tries)
		if ctx.Err() != nil {
			return
		}
		n.Ended, n.Problem = err == nil || city.HasCode(err, city.NotFound) && !v.running(), ""
		if err != nil {
			n.Problem = unreachableReason(err)
		}
		v.mailbox.PutPane(n)
		if n.Ended || !waitToRetry(ctx, tries+2) {
			<-ctx.Done()
			return
		}
	}
}

// readRun puts the output of a run into the mailbox as it arrives. It never changes lines that are already there.
func (v *Viewer) readRun(ctx context.Context, n *terminal.News, tries *int) error {
	var text terminal.RunOutput
	for piece, err := range v.city.RunOutput(ctx, n.Run) {
		if err != nil {
			return err
		}
		*tries = 0
		text.Add(piece)
		n.Immediate = n.LinesReceived == 0
		n.Text, n.LinesReceived, n.Ended, n.Problem = text.Plain(), text.LinesReceived, false, ""
		v.mailbox.PutPane(*n)
	}
	return nil
}
