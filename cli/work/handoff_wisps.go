package work

import (
	"context"
	"fmt"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/mail"
)

func finishedWisps(ctx context.Context, e *env.Env, l *env.Link, me, text string) ([]city.Wisp,
	string) {
	all, err := city.Wisps(ctx, l, me)
	if err != nil {
		fmt.Fprintf(e.Err, "gcity: cannot read the work of %s, so its wisps were not changed: %s\n",
			output.SafeLine(me), output.SafeText(err.Error()))
		return nil, text
	}
	var over []city.Wisp
	inProgress := ""
	for _, w := range all {
		if w.Over() {
			over = append(over, w)
		} else {
			inProgress += "\n" + w.Line()
		}
	}
	if inProgress != "" && len(text)+len(inProgress) < mail.MaxText-100 {
		text += "\n\nStill in progress, and assigned to you:" + inProgress
	}
	return over, text
}

func squash(ctx context.Context, l *env.Link, me string, over []city.Wisp, words string) (said,
	failed string) {
	for _, w := range over {
		digest, err := city.Squash(ctx, l, w, me, words)
		if err != nil {
			failed += fmt.Sprintf("gcity: %s was not squashed, and stays open: %s\n",
				output.SafeLine(w.Root.ID), output.SafeText(err.Error()))
			continue
		}
		said += fmt.Sprintf("; %s was squashed into %s", w.Root.ID, digest.ID)
	}
	return said, failed
}

func leftFor(ctx context.Context, e *env.Env, me string) ([]mail.Message, error) {
	l, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	all, err := city.Mail(ctx, l, me, false)
	if err != nil {
		return nil, err
	}
	var own []mail.Message
	for _, m := range all {
		if m.From == me && m.To == me {
			own = append(own, m)
		}
	}
	return own, nil
}
