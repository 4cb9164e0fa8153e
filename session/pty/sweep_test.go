package pty

import "testing"

// A city's path in a run's marker can contain a colon.
func TestIsRunOf(t *testing.T) {
	for environ, want := range map[string]bool{
		"A=1\x00GC_RUN=/srv/app:XYZ234\x00B=2\x00":          true,
		"GC_RUN=/srv/app:1":                                 true,
		"GC_RUN=/srv/app:2024:XYZ234\x00":                   false, // the city is /srv/app:2024
		"GC_RUN=/srv/app:old/city:XYZ234\x00":               false,
		"GC_RUN=/srv/app:old/city\x00":                      false,
		"GC_RUN=/srv/app-web:XYZ234\x00":                    false,
		"GC_RUN=/srv/app:\x00":                              false,
		"GC_RUN=/srv/app\x00":                               false,
		"X=GC_RUN=/srv/app:XYZ234\x00":                      false,
		"X=1\nGC_RUN=/srv/app:XYZ234\x00":                   false,
		"":                                                  false,
		"GC_RUN=/srv/app:a:b\x00GC_RUN=/srv/app:XYZ234\x00": true,
	} {
		if got := isRunOf("/srv/app", []byte(environ)); got != want {
			t.Errorf("%q: %v", environ, got)
		}
	}
	if !isRunOf("/srv/app:2024", []byte("GC_RUN=/srv/app:2024:XYZ234")) {
		t.Error("a run of a city with a colon in its path was not found")
	}
}
