package keys

import "net/netip"

// IsLocal reports whether a bind address is reachable only from this machine.
func IsLocal(bind string) bool {
	if bind == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(bind)
	return err == nil && addr.Unmap().IsLoopback()
}
