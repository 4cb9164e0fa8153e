// Package holdbin embeds the program gcity-hold in gcity. Builds with the tag "holder" contain it; `make build` and
// the releases build gcity-hold first. Without it, gcity runs itself as the holder.
package holdbin

// Image returns the embedded program for this machine, or nil if this build has none. It must not be changed.
func Image() []byte { return image }
