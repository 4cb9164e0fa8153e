// Package holdbin carries the program gcity-hold inside gcity. It is there in builds with the tag "holder", for which
// `make build` and the releases build gcity-hold first. Without it gcity holds sessions with itself.
package holdbin

// Image returns the embedded program for this machine; nil if this build carries none. It must not be changed.
func Image() []byte { return image }
