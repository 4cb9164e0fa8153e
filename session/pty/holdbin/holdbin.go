// Package holdbin embeds the program gcity-hold in gcity. Only builds with the tag "holder" contain it. Without it,
// gcity runs itself as the holder.
package holdbin

// Image returns the embedded program for this machine, or nil if this build has none. Callers must not modify the
// result.
func Image() []byte { return image }
