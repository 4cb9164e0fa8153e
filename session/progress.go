package session

import "context"

type progressKey struct{}

// WithProgress returns a context in which a slow Start can report what it waits for.
func WithProgress(ctx context.Context, report func(why string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports to the caller of WithProgress what a Start waits for, for example "Unschedulable: …". A provider
// calls it from Start whenever that changes. Settle calls it while the agent is not ready.
func Progress(ctx context.Context, why string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(why)
	}
}
