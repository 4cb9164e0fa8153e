package sqlite

import (
	"fmt"
	"testing"

	"gcity/beads"
)

func sample(i int) beads.Bead {
	return beads.Bead{
		Title: fmt.Sprintf("step %d of the survey", i), Type: "task", Assignee: fmt.Sprintf("yard/worker-%d", i%20), Description: "a description of one or two lines, like most of them",
		Labels: []string{fmt.Sprintf("pool:p%d", i%100), "survey"}, Metadata: map[string]string{"run": fmt.Sprint(i)},
	}
}

// filled creates a store with n beads. Each label "pool:pN" is on one percent of them.
func filled(b *testing.B, n int) *Store {
	b.Helper()
	s := open(b, b.TempDir())
	for from := 0; from < n; from += 10_000 {
		batch := make([]beads.Bead, min(10_000, n-from))
		for i := range batch {
			batch[i] = sample(from + i)
		}
		if _, err := s.CreateAll(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// Each create is durable before the next create begins (W7).
func BenchmarkCreate(b *testing.B) {
	s := filled(b, 10_000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := s.Create(b.Context(), sample(i)); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "beads/s")
}

// 10,000 beads are created in one transaction (W7).
func BenchmarkCreateAll(b *testing.B) {
	s := open(b, b.TempDir())
	batch := make([]beads.Bead, 10_000)
	for i := range batch {
		batch[i] = sample(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.CreateAll(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(batch))/b.Elapsed().Seconds(), "beads/s")
}

// A page of 100 beads is listed (W7).
func BenchmarkList(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s := filled(b, n)
		for name, q := range map[string]beads.Query{
			"label": {Labels: []string{"pool:p7"}}, "everybody's label": {Labels: []string{"survey"}}, "newest": {}, "assignee": {Assignee: "yard/worker-3"},
			"open of a label": {Labels: []string{"pool:p7"}, Status: []beads.Status{beads.StatusOpen}},
			"ready":           {Ready: true},
		} {
			b.Run(fmt.Sprintf("%s of %d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if all, err := s.List(b.Context(), q); err != nil || len(all) != 100 {
						b.Fatal(len(all), err)
					}
				}
			})
		}
	}
}

func BenchmarkCount(b *testing.B) {
	s := filled(b, 100_000)
	for b.Loop() {
		if n, err := s.Count(b.Context(), beads.Query{Labels: []string{"pool:p7"}, Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}}); err != nil || n != 1000 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := filled(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), "gc-5000"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVersion measures the query that a controller makes in each patrol.
func BenchmarkVersion(b *testing.B) {
	s := filled(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Version(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// Each close is durable before the next close begins (W7).
func BenchmarkClose(b *testing.B) {
	s := filled(b, 10_000)
	i := 0
	for b.Loop() {
		// Beads are closed and reopened alternately, so that each update changes something.
		status := []beads.Status{beads.StatusClosed, beads.StatusOpen}[i/10_000%2]
		if _, err := s.Update(b.Context(), fmt.Sprint("gc-", 1+i%10_000), beads.Patch{Status: &status}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "beads/s")
}

// BenchmarkOpen measures the time from opening a file with 100,000 beads to the first result.
func BenchmarkOpen(b *testing.B) {
	at := dir(filled(b, 100_000))
	for b.Loop() {
		s, err := Open(at, "gc")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Get(b.Context(), "gc-5000"); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
