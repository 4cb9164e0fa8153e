// Package mute makes folders that do not answer, for tests.
package mute
