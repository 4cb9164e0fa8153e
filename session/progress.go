package session

import "context"

type progressKey struct{}

// WithProgress returns a context in which a slow Start reports what it waits for.
func WithProgress(ctx context.Context, report func(why string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports what a Start waits for to the caller of WithProgress: "Unschedulable: …". A provider calls it
// from Start whenever the reason changes.
func Progress(ctx context.Context, why string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(why)
	}
}
