package supervisor

import (
	"fmt"
	"slices"

	"gcity/city"
)

func (s *Supervisor) status() string {
	s.mu.Lock()
	all := s.infos()
	s.mu.Unlock()
	text := fmt.Sprintf("%d of %d cities running", city.CountRunning(all), len(all))
	for _, c := range []city.Condition{city.CityCrashed, city.CityRefused} {
		n := 0
		for _, i := range all {
			if i.Status == c {
				n++
			}
		}
		if n > 0 {
			text += fmt.Sprintf(", %d %s", n, c)
		}
	}
	if s.Problem() != "" {
		text += ", a problem with the registry or the settings"
	}
	return text
}

func (s Settings) equal(o Settings) bool {
	return s.Port == o.Port && s.Bind == o.Bind && s.Patrol == o.Patrol &&
		s.TokenFile == o.TokenFile &&
		s.MakeToken == o.MakeToken && s.ReadFile == o.ReadFile && slices.Equal(s.Hosts, o.Hosts) &&
		slices.Equal(s.Warnings, o.Warnings) &&
		slices.EqualFunc(s.Tenants, o.Tenants, func(x, y Tenant) bool { return x.equal(&y) })
}
