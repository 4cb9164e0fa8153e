// Package holdbin embeds the program gcity-hold in gcity. Builds with the tag "holder" contain the program; `make
// build` and the releases build gcity-hold first. A gcity without the program runs itself as the holder.
package holdbin

// Image returns the embedded program for this machine, or nil if this build has none. The caller must not change
// the result.
func Image() []byte { return image }
