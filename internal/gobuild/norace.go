//go:build !race

package gobuild

const raceDetector = false
