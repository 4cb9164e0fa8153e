package city

// IsUserAddress reports whether an address belongs to no agent and no pool of the city, so that only users read its
// mail.
func (s *Snapshot) IsUserAddress(to string) bool { return s.isUserAddress(to) }
