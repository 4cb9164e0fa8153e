package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The newest cities are remembered, even if several processes write at the same time. A damaged record hides only its
// own city.
func TestRecentCities(t *testing.T) {
	h := Home{Dir: filepath.Join(t.TempDir(), "gc")}
	h.Run = h.Dir
	recent := func() []Entry {
		t.Helper()
		all, err := Recent(h)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := recent(); len(all) != 0 {
		t.Fatal(all)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for i := range maxRecent + 5 {
		wg.Go(func() {
			e := Entry{Path: fmt.Sprintf("/srv/%02d", i), Name: fmt.Sprintf("c%02d", i)}
			if err := Remember(h, e, began.Add(time.Duration(i)*time.Second)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := Remember(h, Entry{Path: "/srv/02", Name: "new"}, began.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	all := recent()
	if len(all) != maxRecent || all[1].Name != "c06" || all[0] != (Entry{Path: "/srv/02", Name: "new"}) {
		t.Errorf("%d: %v", len(all), all)
	}
	if err := os.WriteFile(h.recentFile("/srv/24"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	Forget(h, "/srv/02")
	if all = recent(); len(all) != maxRecent-2 || all[len(all)-1].Name != "c23" {
		t.Errorf("%d: %v", len(all), all)
	}
}
