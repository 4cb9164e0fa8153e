// Package workstore opens, backs up and checks the stores that contain the work of a city and of its rigs.
package workstore
