package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
)

func TestSparkIsDrawn(t *testing.T) {
	s := demo(t, 200, 60)
	name := s.m.agents.chosen
	if s.m.agents.pulses.draw(name, s.m.now, &s.m.look.glyph) != "" {
		t.Error("there is a chart before there is anything to draw")
	}
	for i := range 40 {
		s.wait(20 * time.Second)
		s.agent(name, func(a *city.Agent) {
			at := s.now
			a.Session = &city.Session{ID: "x", Started: epoch, LastActivity: &at, Output: uint64(1000 * i)}
		})
	}
	drawn := s.m.agents.pulses.draw(name, s.m.now, &s.m.look.glyph)
	if width(drawn) != sparkBuckets/2 {
		t.Errorf("%q is %d columns wide", drawn, width(drawn))
	}
	s.shows(drawn)
	s.m.look.glyph = themes.ASCII()
	if drawn = s.m.agents.pulses.draw(name, s.m.now, &s.m.look.glyph); !isASCII(drawn) || width(drawn) != sparkBuckets/2 {
		t.Errorf("%q", drawn)
	}
}
