//go:build !holder || !linux || !(amd64 || arm64)

package holdbin

var image []byte
