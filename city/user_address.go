package city

// IsUserAddress reports whether an address belongs to no agent and no pool.
func (s *Snapshot) IsUserAddress(to string) bool { return s.isUserAddress(to) }
