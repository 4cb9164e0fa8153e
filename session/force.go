package session

import "context"

type forceKey struct{}

// WithForce returns a context in which Stop gives up a session whose host does not confirm its end, if force is true.
// Its processes may still run there, so only a user may ask for it.
func WithForce(ctx context.Context, force bool) context.Context {
	if !force {
		return ctx
	}
	return context.WithValue(ctx, forceKey{}, true)
}

// Forced reports whether a Stop does not wait until the session's host confirms the end.
func Forced(ctx context.Context) bool {
	force, _ := ctx.Value(forceKey{}).(bool)
	return force
}
