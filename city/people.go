package city

// ForPeople reports whether an address belongs to no agent and no pool of the city: mail to it waits for a person.
func (s *Snapshot) ForPeople(to string) bool { return s.forPeople(to) }
