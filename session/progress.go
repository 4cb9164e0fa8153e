package session

import "context"

type progressKey struct{}

// WithProgress returns a context in which a slow Start can report the reason for its wait.
func WithProgress(ctx context.Context, report func(why string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports the reason why a Start is waiting to the caller of WithProgress, for example
// "Unschedulable: …". A provider calls it from Start whenever the reason changes. Settle calls it while the
// agent is not ready.
func Progress(ctx context.Context, why string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(why)
	}
}
