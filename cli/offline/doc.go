// Package offline implements the requests about a city that has no controller. It reads the files of the city and
// uses its sessions directly.
package offline
