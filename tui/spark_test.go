package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

func TestSparkIsDrawn(t *testing.T) {
	s := demo(t, 200, 60)
	name := s.m.Agents.SelectedKey
	if s.m.Agents.Rates.Draw(name, s.m.Now, &s.m.Look.Glyphs) != "" {
		t.Error("a chart is drawn without data")
	}
	for i := range 40 {
		s.wait(20 * time.Second)
		s.agent(name, func(a *city.Agent) {
			at := s.now
			a.Session = &city.Session{ID: "x", Started: epoch, LastActivity: &at, Output: uint64(1000 * i)}
		})
	}
	drawn := s.m.Agents.Rates.Draw(name, s.m.Now, &s.m.Look.Glyphs)
	if widget.Width(drawn) != widget.SparkBuckets/2 {
		t.Errorf("%q is %d columns wide", drawn, widget.Width(drawn))
	}
	s.shows(drawn)
	s.m.Look.Glyphs = themes.ASCII()
	if drawn = s.m.Agents.Rates.Draw(name, s.m.Now, &s.m.Look.Glyphs); !widget.IsASCII(drawn) ||
		widget.Width(drawn) != widget.SparkBuckets/2 {
		t.Errorf("%q", drawn)
	}
}
