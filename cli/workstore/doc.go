// Package workstore opens, backs up and checks the stores that contain the work of a city and its rigs.
package workstore
