package automation

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/deadline"
)

// Patience limits the time of a whole scan, even if neither a layer nor the formulas can be read.
func TestScanLimit(t *testing.T) {
	w := newTown(t, "city")
	synctest.Test(t, func(t *testing.T) {
		w.o.Local, w.o.Patience = time.UTC, time.Minute
		w.s = Scanner{local: time.UTC, reading: deadline.New[*layerCache](1),
			resolving: deadline.New[*resolution](1)}
		hung := make(chan struct{})
		defer close(hung)
		w.s.reading.Start(filepath.Join(w.layers[0].Dir, Folder), func() *layerCache {
			<-hung
			return &layerCache{}
		})
		began := time.Now()
		go func() {
			time.Sleep(time.Second) // on the bubble's fake clock
			w.s.resolving.Start("formulas", func() *resolution { <-hung; return &resolution{} })
		}()
		if c := w.scan(); len(c.Problems) != 2 {
			t.Errorf("%v", c.Problems)
		}
		if took := time.Since(began); took > w.o.Patience { // measured on the bubble's fake clock
			t.Errorf("the scan took %s", took)
		}
	})
}
