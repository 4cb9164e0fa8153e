// Package doctor examines a city and its machine. Each check tells what it found and what mends it.
package doctor
