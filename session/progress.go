package session

import "context"

type progressKey struct{}

// WithProgress returns a context with which a slow Start reports why it is still waiting.
func WithProgress(ctx context.Context, report func(why string)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Progress reports to the caller of WithProgress why a Start is still waiting. A provider calls it whenever the reason
// changes. An empty reason means that the start continues.
func Progress(ctx context.Context, why string) {
	if report, ok := ctx.Value(progressKey{}).(func(string)); ok {
		report(why)
	}
}
