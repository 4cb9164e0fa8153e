package widget

import (
	"fmt"
	"math"

	"gcity/city"
)

// CPU formats the CPU usage of a process tree in at most five columns: "0.4%", "12.0%", "340%".
func CPU(u *city.Usage) string {
	switch {
	case u == nil || math.IsNaN(u.CPU) || u.CPU < 0:
		return "-"
	case u.CPU < 99.95:
		return fmt.Sprintf("%.1f%%", u.CPU)
	}
	return fmt.Sprintf("%.0f%%", min(u.CPU, 99999))
}

// Memory formats the memory of a process tree in at most five columns: "640K", "310M", "1.2G".
func Memory(u *city.Usage) string {
	if u == nil || u.RSS <= 0 {
		return "-"
	}
	n := float64(u.RSS) / 1024
	for _, unit := range []string{"K", "M", "G"} {
		switch {
		case n < 9.95 && unit == "G":
			return fmt.Sprintf("%.1f%s", n, unit)
		case n < 1023.5:
			return fmt.Sprintf("%.0f%s", n, unit)
		}
		n /= 1024
	}
	return fmt.Sprintf("%.0fT", min(n, 9999))
}

// Bytes formats a number of bytes: "12 B", "3.4 KiB".
func Bytes(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 100<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
