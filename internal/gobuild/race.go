//go:build race

package gobuild

const raceDetector = true
