// Package doctor checks a city and its machine. Each check reports what it found and how to repair it.
package doctor
