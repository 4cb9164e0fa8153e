package session

import "context"

type progressKey struct{}

// WithProgress returns a context with which a slow Start reports why it is still waiting.
func WithProgress(ctx context.Context, report func(why string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports to the caller of WithProgress why a Start is still waiting, for example "Unschedulable: …". A
// provider calls it from Start whenever the reason changes. Settle calls it while the agent is not ready.
func Progress(ctx context.Context, why string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(why)
	}
}
